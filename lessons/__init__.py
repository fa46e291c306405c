"""What each section of the textbook shows: a page of prose and the scene it steps, one pair of files a section."""
