"""The page of exercises: the tasks, an editor, what came of marking a kernel, and the moment that shows what is wrong."""
