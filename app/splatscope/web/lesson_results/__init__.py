"""The results of a lesson's methods: questions, claims and experiments, drawn in the browser."""
