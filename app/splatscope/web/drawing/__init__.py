"""The drawing beside a figure's source, and what all drawings share."""
