// Fragment stage where only depth is wanted, for shadow maps.
void main() {}
