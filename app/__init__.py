"""The page in the browser: `docparse ui`."""
