"""Runs set against each other: what differs between them, by how much, and where it went.

`sides` reads what is compared, `matching` says which points belong together, `differences` what differs in their
manifests, `noise` what noisy samples allow to say, `judge` puts it together, `attribution` tells where cycles went,
`document` and the other renderers say it to people and machines. `baseline` and `gate` make it a test.
"""
