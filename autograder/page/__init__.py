"""Ranks in the page: what runs inside the browser when a reader presses Run."""
