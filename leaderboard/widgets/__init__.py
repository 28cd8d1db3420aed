"""What several pages draw alike: menus, uploader, thumbnails, the standing of an entry."""
