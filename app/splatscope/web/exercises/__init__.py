"""The page of exercises: the tasks, an editor, the verdict on a kernel, and the moment that shows what is wrong."""
