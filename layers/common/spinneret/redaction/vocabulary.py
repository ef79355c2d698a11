"""Words that make a name secret, and words that make it harmless again.

All are in lower case, without accents and separators, as `names.words` returns them.
"""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in text.split(","))


NOUNS: Final = _words("""
    password passwords passwd passwds pwd pw passphrases passwort kennwort contrasena senha
    wachtwoord haslo heslo parola motdepasse пароль пароля secret secrets token tokens credential
    credentials creds cookie cookies cookiejar authorization jwt dsn otp totp hotp puk cvv cvv2 cvc
    cvc2 psk mnemonic bearer csrf xsrf apikeys jsessionid phpsessid passwordconfirmation
    awsaccesskeyid secretstring wifipsk 密码 密碼 口令 パスワード 비밀번호
""")
"""Words that are secret unless a later word makes them harmless: `token` in `token_count`."""

LAST_NOUNS: Final = _words(
    "auth auths pass session sessions signature sig hmac pin pins sas csc private"
)
"""Nouns only if no word follows: `session_start` and `pin_board` hold no secret."""

PASSWORD_ENDINGS: Final = ("password", "passwd", "pwd", "passphrase", "passwort")
ENDINGS: Final = (
    *PASSWORD_ENDINGS,
    *("secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "credentials", "cookie"),
)
"""Endings that make a word a noun, too: PGPASSWORD, csrfmiddlewaretoken."""

KEY_OWNERS: Final = _words("""
    api private secret access encryption decryption encrypting signing signature sign master
    account shared license licence auth authentication authorization ssh service consumer app
    application client hmac aes rsa ec dsa pgp gpg session server bot admin root subscription
    functions function webhook recovery wallet jwt jwe cipher crypto vault unseal integration
    activation unlock salt write storageaccount deploy deployment developer maps openai
    anthropic stripe sendgrid google github gitlab azure aws twilio mailgun mailchimp datadog
    newrelic algolia cohere groq mistral huggingface serpapi etsy ebay shopify amazon
""")
"""Words after which `key` is a secret. Alone it is a location (S3, DynamoDB)."""

PHRASES: Final = _phrases("""
    2 fa code, access code, access key id, activation code, auth code, auth header, auth verifier,
    authorization code, backup code, backup codes, client assertion, code verifier,
    confirmation code, conn str, conn string, connect sid, connection str, connection string,
    device code, key material, kms data key, login code, mfa code, mot de passe, oauth verifier,
    one time code, pairing code, pass code, pass phrase, pass word, pin code, puk code,
    recovery code, recovery codes, recovery phrase, reset code, saml assertion, saml response,
    secret id, secret phrase, security answer, security answers, security code, seed phrase,
    sess id, session id, sms code, ssl key, tls key, unlock code, verification code
""")
"""Nouns of several words."""

OPEN_ENDED: Final = _words("key keys id string str code codes phrase passe word provided supplied")
"""Last words that a preceding word can turn into a secret's name."""

AFTER: Final = _words("""
    count counts counter counters used usage usages limit limits bucket buckets type types name
    names length len size sizes min max at on in by ago expiry expires expire expired expiration
    exp ttl age lifetime duration date time times timestamp changed change updated created
    issued rotated rotation policy policies url uri urls uris link endpoint endpoints enabled
    enable disabled required optional valid invalid validity verified strength score status
    state path paths file files filename dir directory folder arn arns ref refs reference
    version versions field fields label hint hints placeholder prompt reset rule rules regex
    pattern format algorithm algorithms alg issuer audience scheme schemes scope scopes provider
    providers manager source store storage domain banner consent notice settings per rate price
    cost budget index indexes position offset id ids present exists missing supported attempts
    failures errors error message help stats total remaining kind class mode modes method
    methods prefix suffix generator validator service server info icon title description stdin
    hash hashes fingerprint set last4 null nullable visible hidden kid chars words bytes bits
    seconds minutes ms parser window windows overlap page pages button form feature features
    management santa garden py js ts
""")
"""Words after a noun that describe the secret: its age, location, length."""

BESIDE: Final = _words("""
    user users username login email account role roles realm tenant org organization region
    database db port model unit units currency plan client subject sub iss aud nbf iat strategy
    flow grant agent ip device country permission permissions group groups principal host
    hostname family event state id uid uuid comment note notes tag tags
""")
"""Words below `auth` or `tokens` that name the secret's owner."""

AFTER_PASSWORD: Final = frozenset({"hash", "hashes"})
"""Unlike the hash of a random key, the hash of a password can be broken by guessing."""

BEFORE: Final = _words("""
    has is are was have had needs need require requires required use uses allow allows allowed
    enable enables disable no without num number max min total avg mean count show hide forgot
    forgotten supports support should can must skip ignore public per accept accepts
""")
"""Words before a noun that ask or count."""

BEFORE_TOKEN: Final = _words("""
    next previous prev continuation continue page pagination starting sync fence fencing
    unexpected illegal eos bos pad unk cls mask special stop reasoning
""")
"""Words before `token` if it is a page position, a fence or a piece of text."""

BEFORE_TOKENS: Final = _words(
    "prompt completion input output cached thinking audio generated context consumed billed"
)
"""Words before the plural only: input and output of language models."""

BEFORE_IN_PROSE: Final = BEFORE_TOKEN | _words(
    "max min number num total no without forgot boarding season"
)
"""Words before `token:` or `password:` in a sentence that contains no value."""

PASSWORDS: Final = frozenset(word for word in NOUNS if word.startswith("pass")) | _words(
    "pwd pw passphrase passcode passwort kennwort mnemonic seedphrase"
)
"""Secrets that people choose or remember: they may contain blanks, and their hash is secret too."""

ORDINARY: Final = _words("""
    a about above absent accept accepted access active after all allowed already also always an
    and another any are argument array as at auth authentication authorization available bad
    base be bearer because been before being below between bigint blank bool boolean both bucket
    but by bytes can cannot changed char check click column configured contains count created
    dict did different digest disabled do does done each either else email empty enabled enter
    error every example exists expected expired expires fail failed failure false field file
    filled find flag float for format forgot found from generated get given has have header here
    how if ignored in incorrect input int integer into invalid is issue it its json key keys
    kept length less like limit list log long lookup malformed match matches may mismatch
    missing more must name need needed needs never new next nil no none not now null number
    object of off ok old omitted on once one only option optional or other our out parameter
    parse parsed per please plus present protected provided quota rather read received ref
    refresh rejected removed required reset returned revoked rotated rotation same saved see
    send sent set should shorter since skipped so some soon still store stored str string
    success sure that the their them then there these they this three to too true try two type
    undefined unique unknown unset until unused up updated use used user using valid value
    verified verify void wait was we were what when where which while who why will with without
    wrong yes you your await yield async return function lambda def let const var realm scope
    create delete write manage rotate revoke view edit tokens token password passwords secret
    secrets cookie cookies credential credentials policy strength manager management page form
    settings scheme endpoint
""")
"""English words (and a few types) that follow a noun in prose and code without being its value."""

AUTH_MODES: Final = _words("""
    none sigv4 basic bearer digest iam aws_iam jwt oauth oauth2 oidc saml cognito api_key apikey
    api-key mtls ntlm kerberos negotiate session cookie token password anonymous custom ok
    failed
""")
"""Values of a key `auth` that only name a procedure."""

TAKING: Final = _words("""
    set with update change use put check verify validate hash encrypt compare decode parse revoke
    authenticate secret
""")
"""First words of functions that take the secret itself. `get` takes the secret's name instead."""

NAME_FIELDS: Final = _words("""
    name key field header headername k n param parameter parameterkey parametername property
    propertyname attribute attributename variable env envname setting option optionname label id
    type fieldname argument arg
""")
"""Fields of a record that may hold the name of its value."""

VALUE_FIELDS: Final = _words("""
    value val v values parametervalue input instance input_value inputvalue rejectedvalue
    rejected_value old new old_value new_value oldvalue newvalue given got received actual
    stringvalue string_value secretvalue plaintext headervalue
""")
LOOSE_FIELDS: Final = _words("content data text before after current")
"""Fields of a record with a value; loose ones often hold prose: `{"name": …, "text": …}`."""
