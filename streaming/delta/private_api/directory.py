"""Small files on any file system that Spark can reach: the local disk, or an object store."""

import uuid
from typing import Any

from pyspark.sql import SparkSession


class Directory:
    """A directory, which need not exist yet. PySpark reaches Hadoop's file systems only through its private gateway."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        jvm: Any = spark._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._root = self._path(path)
        self._file_system = self._root.getFileSystem(spark._jsc.hadoopConfiguration())

    def names(self, directory: str) -> list[str]:
        """The names of the files in a subdirectory."""
        path = self._path(self._root, directory)
        if not self._file_system.exists(path):
            return []
        return [status.getPath().getName() for status in self._file_system.listStatus(path)]

    def numbers(self, directory: str) -> list[int]:
        """The numbered files of a subdirectory, in order: Spark names the entries of its logs that way."""
        return sorted(int(name) for name in self.names(directory) if name.isdigit())

    def read(self, name: str) -> str | None:
        """The text of a file, or None if it does not exist."""
        path = self._path(self._root, name)
        if not self._file_system.exists(path):
            return None
        stream = self._file_system.open(path)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def modified_ms(self, name: str) -> int | None:
        """When a file was last written, or None if it does not exist."""
        path = self._path(self._root, name)
        if not self._file_system.exists(path):
            return None
        return int(self._file_system.getFileStatus(path).getModificationTime())

    def size(self) -> int:
        """The bytes of all files in the directory and its subdirectories."""
        return int(self._file_system.getContentSummary(self._root).getLength())

    def write(self, name: str, text: str) -> None:
        """Write a whole file or none: a crash leaves no half-written file of that name.

        Only on the local disk, there is one of that name at all times: elsewhere, a file is not replaced in one step.
        """
        path = self._path(self._root, name)
        draft = self._path(path.getParent(), f".{path.getName()}.{uuid.uuid4()}.tmp")
        stream = self._file_system.create(draft, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if self._file_system.getUri().getScheme() != "file":
            self._file_system.delete(path, False)
        if not self._file_system.rename(draft, path):
            raise OSError(f"{draft} cannot be renamed to {path}")

    def delete(self, name: str) -> bool:
        """Delete a file, or a directory with everything in it; return whether there was one."""
        return bool(self._file_system.delete(self._path(self._root, name), True))
