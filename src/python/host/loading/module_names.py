"""Maps modules to packages of the index, for modules whose package has another name."""

from typing import Optional

_PACKAGES = {
    "Crypto": "pycryptodome",
    "Levenshtein": "levenshtein",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "attr": "attrs",
    "barcode": "python-barcode",
    "bs4": "beautifulsoup4",
    "bson": "pymongo",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "discord": "discord-py",
    "dns": "dnspython",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "engineio": "python-engineio",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "git": "gitpython",
    "github": "pygithub",
    "gitlab": "python-gitlab",
    "google.auth": "google-auth",
    "google.cloud.bigquery": "google-cloud-bigquery",
    "google.cloud.storage": "google-cloud-storage",
    "google.genai": "google-genai",
    "google.generativeai": "google-generativeai",
    "google.oauth2": "google-auth",
    "google.protobuf": "protobuf",
    "googleapiclient": "google-api-python-client",
    "googlesearch": "googlesearch-python",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "ldap": "python-ldap",
    "magic": "python-magic",
    "multipart": "python-multipart",
    "mysql": "mysql-connector-python",
    "nacl": "pynacl",
    "paho": "paho-mqtt",
    "pkg_resources": "setuptools",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "socketio": "python-socketio",
    "speech_recognition": "speechrecognition",
    "tavily": "tavily-python",
    "telegram": "python-telegram-bot",
    "websocket": "websocket-client",
    "wikipediaapi": "wikipedia-api",
    "yaml": "pyyaml",
    "youtube_transcript_api": "youtube-transcript-api",
    "zmq": "pyzmq",
}
# Names that many packages share: the module does not determine the package.
_SHARED = frozenset({"azure", "google", "zope"})


def package_of(module: str) -> Optional[str]:
    """The package that holds a module: the known package for the longest part of its name, otherwise the
    package of the same name.
    """
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        known = _PACKAGES.get(".".join(parts[:length]))
        if known is not None:
            return known
    top = parts[0]
    return None if top in _SHARED or top.startswith("_") or not top.isascii() else top.replace("_", "-").lower()
