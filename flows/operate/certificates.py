"""Certificates for a Dask cluster of one's own: an authority that is used once, and a folder for
each kind of process with what it needs and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from infra.tables import now

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, Name

ROLES = ("scheduler", "flows", "workers")
AUTHORITY = "Armillary: the authority of one cluster"
DAYS = 730


@dataclass(frozen=True, slots=True)
class Authority:
    """Who signs; its key is never written down, so nobody can add a certificate later."""

    certificate: Certificate
    key: EllipticCurvePrivateKey


def write_certificates(folder: Path, days: int = DAYS) -> list[Path]:
    """One folder a role: `ca.pem`, `cert.pem` and `key.pem`. To renew them, write all of them
    anew."""
    authority = _authority(days)
    return [_write(folder / role, role, authority, days) for role in ROLES]


def _write(folder: Path, role: str, authority: Authority, days: int) -> Path:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    signed = (
        _builder(f"Armillary: {role}", days)
        .issuer_name(authority.certificate.subject)
        .public_key(key.public_key())
        .sign(authority.key, hashes.SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True)
    encoding = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(authority.certificate.public_bytes(encoding))
    (folder / "cert.pem").write_bytes(signed.public_bytes(encoding))
    secret = key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").touch(mode=0o600)
    (folder / "key.pem").write_bytes(secret)
    return folder


def _authority(days: int) -> Authority:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder(AUTHORITY, days)
        .issuer_name(_name(AUTHORITY))
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, key)


def _builder(name: str, days: int) -> CertificateBuilder:
    from cryptography import x509

    moment = now()
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment - timedelta(hours=1))
        .not_valid_after(moment + timedelta(days=days))
    )


def _name(text: str) -> Name:
    from cryptography import x509

    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
