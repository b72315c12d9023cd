"""Misread copies: runs of characters and unknown words tell them from other news, in every script."""

import inspect
import random
import textwrap
import zipfile
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Characters, Policy
from ibidem_ingest.document import Document
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.noise import is_source_code
from ibidem_ingest.signatures.sign import sign_batch, sign_one
from support.examples import examples
from support.packed_texts import packed
from support.some import some

VOWELS, OTHERS = "aeiou", "bcdfghklmnprstvwz"


def word(number: int) -> str:
    rng = random.Random(number)  # noqa: S311 - made-up words keep no secret
    return "".join(rng.choice(OTHERS) + rng.choice(VOWELS) for _ in range(rng.choice([2, 3, 4])))


WORDS = sorted({word(number) for number in range(3_000)})
POOR = Table.build("en", 100_000, dict.fromkeys(WORDS, 50.0), "words of the tests")
LETTERS = str.maketrans("0123456789", "klmnopqrst")
MORE = {f"x{'abcdefghij'[n % 10]}{n:x}".translate(LETTERS): 9.0 for n in range(20_000)}
TABLE = Table.build("en", 1_000_000, dict.fromkeys(WORDS, 50.0) | MORE, "more words")


texts = st.builds(
    lambda seed, size, extra: " ".join(random.Random(seed).choices(WORDS, k=size)) + extra,  # noqa: S311
    st.integers(0, 1_000),
    st.sampled_from([0, 3, 49, 50, 60, 200, 999, 1_000]),
    st.text(st.sampled_from("aZ é.,\n7漢\f")),
)


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(texts, max_size=3), st.sampled_from([TABLE, POOR]))
@example([" ".join(WORDS[:size]) for size in (49, 50, 999, 1_000)], TABLE)
def test_a_batch_with_this_table_is_signed_as_one_by_one(several: list[str], table: Table) -> None:
    documents = [Document(str(number), text) for number, text in enumerate(several)]
    assert sign_batch([*documents, Document("z", " ".join(STORY))], table)[:-1] == [
        sign_one(each, table) for each in documents
    ]


def read_again(words: list[str], rate: float, seed: int) -> list[str]:
    """Read a text as from a bad scan: so many of its characters are read as others."""
    rng = random.Random(seed)  # noqa: S311
    return ["".join(rng.choice(OTHERS) if rng.random() < rate else c for c in each) for each in words]


def decision(a: list[str], b: list[str], policy: Policy | None = None, table: Table = TABLE) -> Evidence | None:
    policy = policy or Policy(slots=None, terms=None, fingerprint=None)
    both = [packed(" ".join(words), table=table) for words in (a, b)]
    evidence = decide(*both, policy)
    assert evidence == decide(*both[::-1], policy)
    return evidence


STORY = random.Random(7).choices(WORDS, k=300)  # noqa: S311


@pytest.mark.parametrize("rate", [0.05, 0.1])
def test_a_text_that_was_misread_is_a_near_duplicate_and_says_so(rate: float) -> None:
    evidence = some(decision(STORY, read_again(STORY, rate, 1)))
    assert (evidence.level, evidence.signature) == ("near", "characters")
    assert evidence.why["of"] == 64
    assert 0.12 <= float(str(evidence.why["unknown"])) <= 1


def test_a_text_that_differs_in_good_words_is_none_however_many_characters_it_shares() -> None:
    rng = random.Random(3)  # noqa: S311
    noise_b = [rng.choice(WORDS) if rng.random() < 0.2 else each for each in STORY]
    assert decision(STORY, noise_b) is None


def test_a_text_that_differs_in_figures_is_none_though_some_words_are_misread_too() -> None:
    rng = random.Random(4)  # noqa: S311
    a = [str(rng.randrange(10**6)) if at % 4 == 0 else each for at, each in enumerate(STORY)]
    b = [str(rng.randrange(10**6)) if at % 4 == 0 else each for at, each in enumerate(STORY)]
    assert decision(a, read_again(b, 0.004, 1)) is None


def test_where_the_table_knows_few_words_only_a_preset_for_scans_counts_it() -> None:
    text_again = read_again(STORY, 0.05, 1)
    assert decision(STORY, text_again, table=POOR) is None
    scans = Policy(slots=None, terms=None, fingerprint=None, characters=Characters(few=True))
    assert decision(STORY, text_again, scans, table=POOR) is not None


def cut_lines(words: list[str], length: int = 7) -> list[list[str]]:
    """Set a text in lines."""
    return [words[at : at + length] for at in range(0, len(words), length)]


def test_columns_that_were_read_across_are_near_those_that_were_read_down() -> None:
    left, right = cut_lines(read_again(STORY, 0.04, 1)[:150]), cut_lines(read_again(STORY, 0.04, 1)[150:])
    across = [each for pair in zip(left, right, strict=True) for line in pair for each in line]
    assert some(decision(STORY, across)).signature == "characters"


@pytest.mark.slow
def test_other_pages_of_the_same_book_are_none() -> None:
    book = random.Random(8).choices(WORDS, k=1_200)  # noqa: S311
    pages = [read_again(book[at : at + 300], 0.05, at) for at in range(0, 1_200, 300)]
    assert not any(decision(pages[a], pages[b]) for a in range(4) for b in range(a))


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


def misread(text: str, rate: float) -> str:
    rng = random.Random(7)  # noqa: S311 - made-up misreadings keep no secret
    first, last = min(filter(str.isalpha, text)), max(text)
    return "".join(chr(rng.randint(ord(first), ord(last))) if c != " " and rng.random() < rate else c for c in text)


@pytest.mark.parametrize("text", [CHINESE, KOREAN])
@pytest.mark.parametrize("rate", [0.05, 0.1])
def test_a_misread_copy_is_near_by_its_characters(text: str, rate: float) -> None:
    assert some(decide(packed(text), packed(misread(text, rate)), Policy())).signature in {"characters", "minhash"}


@given(st.lists(st.text(st.sampled_from("国家的人ไทยบ้านかなカ한국말a1é ,"), max_size=90), min_size=1, max_size=4))
def test_a_batch_is_signed_as_one_by_one(texts: list[str]) -> None:
    documents = [Document(str(at), text * 9) for at, text in enumerate(texts)]
    assert sign_batch([*documents, Document("z", CHINESE * 3)], None)[:-1] == [
        sign_one(each, None) for each in documents
    ]


SOURCE_CODE_TABLE = Table.build("en", 100_000, {"the": 50_000.0, "court": 900.0}, "two words")
PROSE = "The motion is denied; the appeal (No. 12-B) was late; costs follow the event and counsel knew it. " * 9


@pytest.mark.parametrize("module", [zipfile, textwrap, inspect])
@pytest.mark.slow
def test_source_code_has_no_noise_block(module: ModuleType) -> None:
    document = Document("a", inspect.getsource(module))
    assert is_source_code(document.text)
    assert sign_one(document, SOURCE_CODE_TABLE).noise == noise.NONE
    assert sign_batch([document, Document("b", PROSE)], SOURCE_CODE_TABLE)[0].noise == noise.NONE


def test_prose_with_semicolons_and_brackets_keeps_its_noise_block() -> None:
    document = Document("b", PROSE)
    assert not is_source_code(PROSE)
    assert (
        sign_one(document, SOURCE_CODE_TABLE).noise == sign_batch([document], SOURCE_CODE_TABLE)[0].noise != noise.NONE
    )
