"""Misread copies are found in scripts in which a letter is a syllable or a word, by pairs of letters in no list."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.decision import decide
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.signatures import bigrams, noise
from ibidem_ingest.signatures.packed import Packed, pack, unpack
from ibidem_ingest.signatures.sign import sign_batch, sign_one
from ibidem_ingest.text.tokens import tokens

CHINESE = (
    "中华人民共和国的一切权力属于人民人民行使国家权力的机关是全国人民代表大会和地方各级人民代表大会人民依"
    "照法律规定通过各种途径和形式管理国家事务管理经济和文化事业管理社会事务国家保护社会主义的公共财产禁止"
    "任何组织或者个人用任何手段侵占或者破坏国家的和集体的财产公民的合法的私有财产不受侵犯国家依照法律规定"
    "保护公民的私有财产权和继承权国家为了公共利益的需要可以依照法律规定对公民的私有财产实行征收或者征用并"
    "给予补偿"
)
KOREAN = (
    "모든 국민은 인간으로서의 존엄과 가치를 가지며 행복을 추구할 권리를 가진다 국가는 개인이 가지는 "
    "불가침의 기본적 인권을 확인하고 이를 보장할 의무를 진다 모든 국민은 법 앞에 평등하다 누구든지 "
    "성별 종교 또는 사회적 신분에 의하여 정치적 경제적 사회적 문화적 생활의 모든 영역에 있어서 "
    "차별을 받지 아니한다 모든 국민은 신체의 자유를 가진다 누구든지 법률에 의하지 아니하고는 체포 "
    "구속 압수 수색 또는 심문을 받지 아니하며 법률과 적법한 절차에 의하지 아니하고는 처벌 보안처분 "
    "또는 강제노역을 받지 아니한다 모든 국민은 거주와 이전의 자유를 가진다 모든 국민은 직업선택의 "
    "자유를 가진다 모든 국민은 주거의 자유를 침해받지 아니한다"
)


def packed(text: str) -> Packed:
    document = Document("a", text)
    read = unpack(pack(document, sign_one(document, None)))
    assert read is not None
    return read


def misread(text: str, rate: float) -> str:
    rng = random.Random(7)  # noqa: S311 - made-up misreadings keep no secret
    first, last = min(filter(str.isalpha, text)), max(text)
    return "".join(chr(rng.randint(ord(first), ord(last))) if c != " " and rng.random() < rate else c for c in text)


@pytest.mark.parametrize("text", [CHINESE, KOREAN])
@pytest.mark.parametrize("rate", [0.05, 0.1])
def test_a_misread_copy_is_near_by_its_characters(text: str, rate: float) -> None:
    evidence = decide(packed(text), packed(misread(text, rate)), Policy())
    assert evidence is not None
    assert evidence.signature in {"characters", "minhash"}


def test_misread_letters_make_bigrams_that_the_list_lacks() -> None:
    clean, copy = (noise.read(packed(text).noise) for text in (CHINESE, misread(CHINESE, 0.1)))
    assert copy.unknown > clean.unknown + 20


def test_a_letter_of_an_alphabet_in_place_of_a_character_is_misread() -> None:
    rng = random.Random(3)  # noqa: S311 - made-up misreadings keep no secret
    copy = "".join(rng.choice("ilrst") if rng.random() < 0.1 else c for c in CHINESE)
    evidence = decide(packed(CHINESE), packed(copy), Policy())
    assert evidence is not None
    assert evidence.signature == "characters"


def test_a_text_with_many_latin_words_is_compared_by_characters_too() -> None:
    assert bigrams.is_dense(tokens("使用 GNOME 控制中心的 Network 面板"))
    assert not bigrams.is_dense(tokens("the street is called 北京路 on this map"))


@given(st.lists(st.text(st.sampled_from("国家的人ไทยบ้านかなカ한국말a1é ,"), max_size=90), min_size=1, max_size=4))
def test_a_batch_is_signed_as_one_by_one(texts: list[str]) -> None:
    documents = [Document(str(at), text * 9) for at, text in enumerate(texts)]
    assert sign_batch([*documents, Document("z", CHINESE * 3)], None)[:-1] == [
        sign_one(each, None) for each in documents
    ]


def test_hangul_is_paired_within_words_only() -> None:
    assert list(bigrams.bigrams(tokens("한국 말, 日本"))) == ["한국", "日本"]
