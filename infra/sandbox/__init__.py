"""What a child process gives up before it touches what strangers made: network, files, memory."""
