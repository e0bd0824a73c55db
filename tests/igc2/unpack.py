"""usage: unpack.py ARCHIVE FOLDER"""
import os
import sys
import tarfile

with tarfile.open(sys.argv[1]) as tar:
    for member in tar:
        with open(os.path.join(sys.argv[2], os.path.basename(member.name)), 'wb') as out:
            out.write(tar.extractfile(member).read())
