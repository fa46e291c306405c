"""The drawing beside a lesson's figure, and what drawings share."""
