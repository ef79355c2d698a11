"""Access tokens: all forgeries are refused alike, and a rotation of keys refuses no valid token."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from spinneret.access.tokens.models import KeySet
from spinneret.access.tokens.service import jwk
from spinneret.kernel.errors import AuthRequired, DependencyUnavailable
from tests.unit.access.people.team import Team

_FOREIGN = rsa.generate_private_key(public_exponent=65537, key_size=2048)
Forge = Callable[[Team, str], str]


def encoded(part: Any) -> str:
    """Encode one part of a token."""
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def parts(token: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return header, claims and signature of a token."""
    header, claims, signature = token.split(".")
    load = [json.loads(base64.urlsafe_b64decode(each + "==")) for each in (header, claims)]
    return load[0], load[1], signature


def signed(team: Team, header: dict[str, Any], claims: Any) -> str:
    """Return a token that is signed with our own key."""
    message = f"{encoded(header)}.{encoded(claims)}"
    [key] = team.key_sets.keys.keys
    return f"{message}.{encoded(team.signer.sign(key.key_id, message.encode()))}"


def header_with(**changes: Any) -> Forge:
    """Return a forger that changes the header and signs the token validly."""

    def forge(team: Team, token: str) -> str:
        header, claims, _ = parts(token)
        return signed(team, {**header, **changes}, claims)

    return forge


def claims_with(**changes: Any) -> Forge:
    """Return a forger that changes claims and signs the token validly; None removes a claim."""

    def forge(team: Team, token: str) -> str:
        header, claims, _ = parts(token)
        wanted = {**claims, **changes}
        return signed(team, header, {k: v for k, v in wanted.items() if v is not None})

    return forge


def unsigned(alg: str) -> Forge:
    """Return a forger that sets a spelling of the algorithm `none` and omits the signature."""

    def forge(team: Team, token: str) -> str:
        header, claims, _ = parts(token)
        return f"{encoded({**header, 'alg': alg})}.{encoded(claims)}."

    return forge


def by_public_key(form: str) -> Forge:
    """Return a forger that signs with the public key, as if it were a shared secret."""

    def forge(team: Team, token: str) -> str:
        import hmac  # noqa: PLC0415 - only here

        header, claims, _ = parts(token)
        [key] = team.key_sets.keys.keys
        secret = key.public_key if form == "PEM" else json.dumps(jwk(key))
        message = f"{encoded({**header, 'alg': 'HS256'})}.{encoded(claims)}"
        mac = hmac.digest(secret.encode(), message.encode(), "sha256")
        return f"{message}.{encoded(mac)}"

    return forge


def foreign(team: Team, token: str) -> str:
    header, claims, _ = parts(token)
    return jwt.encode(claims, _FOREIGN, "RS256", headers={"kid": header["kid"], "typ": "at+jwt"})


def changed_payload(team: Team, token: str) -> str:
    header, claims, signature = parts(token)
    return f"{encoded(header)}.{encoded({**claims, 'tenant': 'other'})}.{signature}"


FORGERIES: dict[str, Forge] = {
    "none": unsigned("none"),
    "None": unsigned("None"),
    "nOnE": unsigned("nOnE"),
    "HS256 by the PEM": by_public_key("PEM"),
    "HS256 by the JWK": by_public_key("JWK"),
    "PS256": header_with(alg="PS256"),
    "ES256": header_with(alg="ES256"),
    "foreign key": foreign,
    "unknown kid": header_with(kid="kid_unknown"),
    "kid as path": header_with(kid="../../etc/passwd"),
    "kid as SQL": header_with(kid="' OR 1=1 --"),
    "kid as number": header_with(kid=1),
    "kid as list": header_with(kid=["kid_00001"]),
    "jku": header_with(jku="https://evil.example/keys"),
    "jwk": header_with(jwk={"kty": "RSA", "n": "AQAB", "e": "AQAB"}),
    "x5u": header_with(x5u="https://evil.example/cert"),
    "crit": header_with(crit=["exp"]),
    "type": header_with(typ="JWT"),
    "issuer": claims_with(iss="other"),
    "audience": claims_with(aud="other"),
    "audiences": claims_with(aud=["api", "other"]),
    "expired": claims_with(exp=1),
    "expiry as text": claims_with(exp="2100000000"),
    "expiry beyond numbers": claims_with(exp=float("inf")),
    "not yet issued": claims_with(iat=2_000_000_000),
    "not yet valid": claims_with(nbf=2_000_000_000),
    "nbf as text": claims_with(nbf="soon"),
    "no expiry": claims_with(exp=None),
    "no issue": claims_with(iat=None),
    "no subject": claims_with(sub=None),
    "no session": claims_with(sid=None),
    "no tenant": claims_with(tenant=None),
    "unknown role": claims_with(role="owner"),
    "higher role": claims_with(role="seller"),
    "another tenant": claims_with(tenant="other"),
    "another session": claims_with(sid="s_99999"),
    "claims are a list": lambda team, token: signed(team, parts(token)[0], [1]),
    "claims are no JSON": lambda team, token: signed(team, parts(token)[0], b"{"),
    "changed payload": changed_payload,
    "no signature": lambda team, token: token.rpartition(".")[0] + ".",
    "two parts": lambda team, token: token.rpartition(".")[0],
    "four parts": lambda team, token: f"{token}.x",
    "10 KB": lambda team, token: token + "A" * 10_000,
    "dots": lambda team, token: "..",
    "not ASCII": lambda team, token: f"é.{token}",
}


# covers T-02
@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_token_is_refused_with_the_one_message(team: Team, forge: Forge) -> None:
    team.person()
    token = team.sign_in().access_token
    assert team.keys.authenticate(token)
    with pytest.raises(AuthRequired) as caught:
        team.keys.authenticate(forge(team, token))
    assert str(caught.value) == "a valid API key or access token is required"


# covers T-02
def test_tokens_of_one_kind_are_not_taken_for_the_other(team: Team) -> None:
    team.person()
    tokens = team.sign_in()
    with pytest.raises(AuthRequired):
        team.keys.authenticate(tokens.refresh_token)
    for token in (tokens.access_token, "", "spr_", "spr_a.b.c", "spr_acme.u_1.s_1.0", "x" * 400):
        with pytest.raises(AuthRequired):
            team.sessions.refresh(token)
        with pytest.raises(AuthRequired):
            team.sessions.sign_out(token, everywhere=True)


def test_a_token_ends_after_an_hour_and_the_leeway(team: Team) -> None:
    team.person()
    token = team.sign_in().access_token
    team.clock.advance(3629)
    assert team.keys.authenticate(token)
    team.clock.advance(1)
    with pytest.raises(AuthRequired):
        team.keys.authenticate(token)


# ---------------------------------------------------------------- Rotation


# covers T-02
@pytest.mark.heavy
def test_a_rotation_refuses_no_token_and_deletes_the_old_key_at_last(team: Team) -> None:
    """Each minute, a token is issued, and the oldest and newest tokens of the last hour are
    verified.

    The verifiers are warm processes; each verifies at its own third of the minute, and so reads the
    keys at another time.
    """
    team.person()
    processes = [replace(team.verifier) for _ in range(3)]
    tokens: list[tuple[str, int]] = []
    for minute in range(200):
        if minute == 20:
            assert team.rotation.run(at_once=True).created == 1
        elif minute % 10 == 0:
            team.rotation.run()
        tokens.append((team.sign_in().access_token, minute))
        tokens = [each for each in tokens if minute - each[1] < 60]
        for process in processes:
            for token, _ in (tokens[0], tokens[-1]):
                assert process.claims(token)
            team.clock.advance(20)
    assert (len(team.key_sets.keys.keys), team.signer.deleted) == (1, ["kms-1"])


def test_a_key_rotates_after_ninety_days(team: Team) -> None:
    team.clock.advance(90 * 86400 - 1)
    assert team.rotation.run().created == 0
    team.clock.advance(1)
    assert team.rotation.run().created == 1
    assert team.rotation.run().created == 0


def test_a_rotation_that_another_overtakes_deletes_its_own_key(team: Team) -> None:
    replaced = team.key_sets.replace

    def overtaken(former: KeySet, keys: KeySet) -> bool:
        assert replaced(former, KeySet(version=former.version + 1, keys=former.keys))
        return replaced(former, keys)

    team.key_sets.replace = overtaken  # type: ignore[method-assign]  # another pass comes between
    with pytest.raises(DependencyUnavailable):
        team.rotation.run(at_once=True)
    assert team.signer.deleted == ["kms-2"]


def test_the_published_keys_are_those_that_verify(team: Team) -> None:
    team.person()
    token = team.sign_in().access_token
    published = {"keys": [jwk(key) for key in team.verifier.published()]}
    key = jwt.PyJWKSet.from_dict(published)[parts(token)[0]["kid"]]
    options = {"verify_exp": False, "verify_iat": False}
    assert jwt.decode(token, key, algorithms=["RS256"], audience="api", options=options)


def test_a_process_that_met_a_stage_without_keys_publishes_the_first_one(team: Team) -> None:
    verifier, stored = replace(team.verifier), team.key_sets.keys
    team.key_sets.keys = KeySet()
    assert verifier.published() == ()
    team.key_sets.keys = stored
    assert len(verifier.published()) == 1
