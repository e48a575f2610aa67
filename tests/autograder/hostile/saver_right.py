"""A right program on a disk that crashes."""
# item: saver
# earns: 4
# ends: value
# needs: nothing


def answer(disk, name, data):
    disk.write(f"{name}.new", data)
    disk.sync(f"{name}.new")
    disk.rename(f"{name}.new", name)
