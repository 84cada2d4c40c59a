// MD5 (RFC 1321) and SHA-1, SHA-2 (FIPS 180-4).
#include "engine/functions/digest.h"

#include <math.h>
#include <string.h>

static uint32_t rotate_left(uint32_t v, int n) {
    return v << n | v >> (32 - n);
}

static uint32_t rotate_right(uint32_t v, int n) {
    return v >> n | v << (32 - n);
}

static uint64_t rotate_right_64(uint64_t v, int n) {
    return v >> n | v << (64 - n);
}

static uint32_t big32(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// --- blocks --------------------------------------------------------------------------------------------------------

static void md5_block(uint64_t *state, const unsigned char *block) {
    static const unsigned char shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = (uint32_t)state[0], b = (uint32_t)state[1], c = (uint32_t)state[2], d = (uint32_t)state[3];
    for (int i = 0; i < 64; i++) {
        uint32_t f = 0, word = 0;
        int g = 0;
        switch (i / 16) {
        case 0: f = (b & c) | (~b & d), g = i; break;
        case 1: f = (d & b) | (~d & c), g = (5 * i + 1) % 16; break;
        case 2: f = b ^ c ^ d, g = (3 * i + 5) % 16; break;
        default: f = c ^ (b | ~d), g = 7 * i % 16; break;
        }
        memcpy(&word, block + 4 * g, 4);  // little-endian, as the machine
        f += a + (uint32_t)(fabs(sin(i + 1)) * 4294967296.0) + word;
        a = d;
        d = c;
        c = b;
        b += rotate_left(f, shifts[i / 16][i % 4]);
    }
    state[0] = (uint32_t)(state[0] + a);
    state[1] = (uint32_t)(state[1] + b);
    state[2] = (uint32_t)(state[2] + c);
    state[3] = (uint32_t)(state[3] + d);
}

static void sha1_block(uint64_t *state, const unsigned char *block) {
    uint32_t w[80], v[5];
    for (int i = 0; i < 16; i++) w[i] = big32(block + 4 * i);
    for (int i = 16; i < 80; i++) w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 5; i++) v[i] = (uint32_t)state[i];
    for (int i = 0; i < 80; i++) {
        uint32_t f = 0, k = 0;
        if (i < 20) {
            f = (v[1] & v[2]) | (~v[1] & v[3]), k = 0x5A827999;
        } else if (i < 40) {
            f = v[1] ^ v[2] ^ v[3], k = 0x6ED9EBA1;
        } else if (i < 60) {
            f = (v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3]), k = 0x8F1BBCDC;
        } else {
            f = v[1] ^ v[2] ^ v[3], k = 0xCA62C1D6;
        }
        uint32_t next = rotate_left(v[0], 5) + f + v[4] + k + w[i];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotate_left(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (int i = 0; i < 5; i++) state[i] = (uint32_t)(state[i] + v[i]);
}

// The first 64 bits of the fractions of the cube roots of the first 80 primes; SHA-256 takes the upper halves of 64
// of them.
static const uint64_t round_constants[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

static void sha256_block(uint64_t *state, const unsigned char *block) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) w[i] = big32(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    for (int i = 0; i < 8; i++) v[i] = (uint32_t)state[i];
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + choice + (uint32_t)(round_constants[i] >> 32) + w[i];
        uint32_t s0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] = (uint32_t)(state[i] + v[i]);
}

static void sha512_block(uint64_t *state, const unsigned char *block) {
    uint64_t w[80], v[8];
    for (int i = 0; i < 16; i++) w[i] = (uint64_t)big32(block + 8 * i) << 32 | big32(block + 8 * i + 4);
    for (int i = 16; i < 80; i++) {
        uint64_t s0 = rotate_right_64(w[i - 15], 1) ^ rotate_right_64(w[i - 15], 8) ^ w[i - 15] >> 7;
        uint64_t s1 = rotate_right_64(w[i - 2], 19) ^ rotate_right_64(w[i - 2], 61) ^ w[i - 2] >> 6;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 80; i++) {
        uint64_t s1 = rotate_right_64(v[4], 14) ^ rotate_right_64(v[4], 18) ^ rotate_right_64(v[4], 41);
        uint64_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint64_t t1 = v[7] + s1 + choice + round_constants[i] + w[i];
        uint64_t s0 = rotate_right_64(v[0], 28) ^ rotate_right_64(v[0], 34) ^ rotate_right_64(v[0], 39);
        uint64_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

// --- algorithms ----------------------------------------------------------------------------------------------------

struct algorithm {
    size_t block, size;  // bytes of a block and of the digest
    size_t word;         // bytes of a state word in the digest
    void (*run)(uint64_t *state, const unsigned char *block);
    uint64_t start[8];
};

static const struct algorithm algorithms[] = {
    [DIGEST_MD5] = {64, 16, 4, md5_block, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}},
    [DIGEST_SHA1] = {64, 20, 4, sha1_block, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}},
    [DIGEST_SHA224] = {64,
                       28,
                       4,
                       sha256_block,
                       {0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7,
                        0xbefa4fa4}},
    [DIGEST_SHA256] = {64,
                       32,
                       4,
                       sha256_block,
                       {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
                        0x5be0cd19}},
    [DIGEST_SHA384] = {128,
                       48,
                       8,
                       sha512_block,
                       {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
                        0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4}},
    [DIGEST_SHA512] = {128,
                       64,
                       8,
                       sha512_block,
                       {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                        0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}},
};

size_t tide__digest(enum digest digest, struct str data, unsigned char out[DIGEST_SIZE_MAX]) {
    const struct algorithm *a = &algorithms[digest];
    const unsigned char *at = (const unsigned char *)data.data;
    unsigned char tail[256] = {0};
    uint64_t state[8];
    memcpy(state, a->start, sizeof state);
    size_t rest = data.len;
    for (; rest >= a->block; rest -= a->block, at += a->block) a->run(state, at);
    if (rest > 0) memcpy(tail, at, rest);
    tail[rest] = 0x80;
    size_t tail_size = rest + 1 + a->block / 8 <= a->block ? a->block : 2 * a->block;
    uint64_t bits = (uint64_t)data.len * 8;
    for (size_t i = 0; i < 8; i++) {
        size_t place = digest == DIGEST_MD5 ? tail_size - 8 + i : tail_size - 1 - i;
        tail[place] = (unsigned char)(bits >> (8 * i));
    }
    for (size_t i = 0; i < tail_size; i += a->block) a->run(state, tail + i);
    for (size_t i = 0; i < a->size; i++) {
        size_t byte = i % a->word, shift = digest == DIGEST_MD5 ? byte : a->word - 1 - byte;
        out[i] = (unsigned char)(state[i / a->word] >> (8 * shift));
    }
    return a->size;
}
