tea: water ## make it
	echo hot
