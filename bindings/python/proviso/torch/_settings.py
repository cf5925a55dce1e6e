"""What of Proviso is on in this process; _binding.py sets it."""

# Torch is asked the same, its answer is used, and differences are reported.
verify = False
