"""The benchmark: this device's own ceilings, and how near to them each workload comes, all in one run."""
