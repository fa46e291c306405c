"""The pages of claims and of terms."""
