"""The colour of pixels. Light adds up linearly here; the sRGB curve comes last.

A strip of rows is drawn by one thread from z-buffer to bytes, in small buffers of its own. A *fragment* is a
face in a pixel: it is lit once, where its samples are, and weighs as many samples as it has.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CURVE_END = 1.5
"""square root of linear light at the end of the tone curve; brighter is as bright"""
DEEPEST, HIGHEST = 0.3, 0.18
"""the most a valley darkens and a ridge lightens: wrinkles read, creases do not turn into ink"""
KEY_TINT, FILL_TINT, SKY_TINT = (1.05, 1.0, 0.93), (0.93, 0.985, 1.05), (0.99, 0.985, 1.04)
"""a warm key and a cool fill: colour tells apart what brightness alone would not"""
DITHER = ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5))
"""where between two bytes a pixel changes over, in sixteenths: a slow gradient has no bands"""


@njit(nogil=True, error_model="numpy")
def _smoothstep(low, high, value):
    t = min(max((value - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@njit(nogil=True, cache=True, error_model="numpy")
def gather(seen, nearness, offsets, first, floor, pixel, face, place, weight, bare):
    """Turn the samples (s, rows, width) of a strip into fragments; their number.

    floor (3,): 1/depth of the ground at pixel (u, v) is floor · (u, v, 1). Filled for each fragment: pixel
    (row, column), face, place (u, v), weight; for each pixel (rows, width): `bare`, the share without a face.
    """
    samples, rows, width = seen.shape
    count = 0
    for row in range(rows):
        for column in range(width):
            bare[row, column] = 0.0
            start = count
            for s in range(samples):
                f = seen[s, row, column]
                u, v = column + offsets[s, 0], first + row + offsets[s, 1]
                # The ground counts as a hair farther than it is, so that cloth lying on it stays visible.
                if f < 0 or nearness[s, row, column] < 0.999 * (floor[0] * u + floor[1] * v + floor[2]):
                    bare[row, column] += 1.0 / samples
                    continue
                k = start
                while k < count and face[k] != f:
                    k += 1
                if k == count:
                    pixel[k, 0], pixel[k, 1], face[k] = row, column, f
                    place[k, 0], place[k, 1], weight[k] = 0.0, 0.0, 0.0
                    count += 1
                place[k, 0] += u
                place[k, 1] += v
                weight[k] += 1.0 / samples
            for k in range(start, count):
                place[k, 0] /= weight[k] * samples
                place[k, 1] /= weight[k] * samples
    return count


@njit(nogil=True, error_model="numpy")
def _interpolated(values, faces, f, w0, w1, w2):
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    return (
        w0 * values[a, 0] + w1 * values[b, 0] + w2 * values[c, 0],
        w0 * values[a, 1] + w1 * values[b, 1] + w2 * values[c, 1],
        w0 * values[a, 2] + w1 * values[b, 2] + w2 * values[c, 2],
    )


@njit(nogil=True, error_model="numpy")
def _flat_normal(x, faces, f):
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    p0, p1, p2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    q0, q1, q2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    return p1 * q2 - p2 * q1, p2 * q0 - p0 * q2, p0 * q1 - p1 * q0


@njit(nogil=True, cache=True, error_model="numpy")
def locate(face, place, planes, front, x, faces, normals, cavity, smooth, weights, point, normal, bend):
    """Where fragments are: barycentric weights, point, unit normal towards the eye (m, 3), curvature (m,).

    The plane functions are the weights over depth, so dividing by their sum is perspective-correct.
    """
    for k in range(len(face)):
        f = face[k]
        u, v = place[k, 0], place[k, 1]
        w0 = planes[f, 0, 0] * u + planes[f, 0, 1] * v + planes[f, 0, 2]
        w1 = planes[f, 1, 0] * u + planes[f, 1, 1] * v + planes[f, 1, 2]
        w2 = planes[f, 2, 0] * u + planes[f, 2, 1] * v + planes[f, 2, 2]
        total = w0 + w1 + w2
        w0, w1, w2 = w0 / total, w1 / total, w2 / total
        weights[k, 0], weights[k, 1], weights[k, 2] = w0, w1, w2
        point[k, 0], point[k, 1], point[k, 2] = _interpolated(x, faces, f, w0, w1, w2)
        side = 1.0 if front[f] else -1.0
        bend[k] = side * (w0 * cavity[faces[f, 0]] + w1 * cavity[faces[f, 1]] + w2 * cavity[faces[f, 2]])
        n0, n1, n2 = 0.0, 0.0, 0.0
        if smooth:
            n0, n1, n2 = _interpolated(normals, faces, f, w0, w1, w2)
        if n0 * n0 + n1 * n1 + n2 * n2 < 1e-12:  # flat on purpose, or neighbours that cancel
            n0, n1, n2 = _flat_normal(x, faces, f)
        scale = side / max(np.sqrt(n0 * n0 + n1 * n1 + n2 * n2), 1e-300)
        normal[k, 0], normal[k, 1], normal[k, 2] = n0 * scale, n1 * scale, n2 * scale


@njit(nogil=True, cache=True, error_model="numpy")
def on_lattice(face, weights, front, order, table, share, result):
    """Sky share (p, 2) at the fragments' weights (m, 3); table (f, k) and order of a `Lattice`."""
    for k in range(len(face)):
        f = face[k]
        side = 0 if front[f] else 1
        u, v = weights[k, 1] * order, weights[k, 2] * order
        j = min(max(int(v), 0), order - 1)
        i = min(max(int(u), 0), order - 1 - j)
        a, b = u - i, v - j
        row = j * (order + 1) - j * (j - 1) // 2 + i
        above = (j + 1) * (order + 1) - (j + 1) * j // 2 + i
        right, top = share[table[f, row + 1], side], share[table[f, above], side]
        if a + b <= 1.0 or i + j + 2 > order:
            corner = share[table[f, row], side]
            result[k] = corner + a * (right - corner) + b * (top - corner)
        else:
            corner = share[table[f, above + 1], side]
            result[k] = corner + (1.0 - a) * (top - corner) + (1.0 - b) * (right - corner)


@njit(nogil=True, cache=True, error_model="numpy")
def edge_cover(face, place, planes, width, result):
    """How much of each fragment an edge covers; edges fade out where faces are only a few pixels."""
    for k in range(len(face)):
        f = face[k]
        u, v = place[k, 0], place[k, 1]
        total, nearest, altitude = 0.0, np.inf, np.inf
        for i in range(3):
            total += planes[f, i, 0] * u + planes[f, i, 1] * v + planes[f, i, 2]
        for i in range(3):
            a, b = planes[f, i, 0], planes[f, i, 1]
            slope = max(np.sqrt(a * a + b * b), 1e-300)
            nearest = min(nearest, (a * u + b * v + planes[f, i, 2]) / slope)
            altitude = min(altitude, total / slope)
        result[k] = min(max(0.5 * width + 0.5 - nearest, 0.0), 1.0) * _smoothstep(1.5, 7.0, altitude)


@njit(nogil=True, cache=True, error_model="numpy")
def light(
    pixel, weight, front, outside, point, normal, bend, sky_part, key_part, cover, colours, lamps, strengths, image
):
    """Add the fragments' light to the linear image (rows, width, 3).

    front (m, 3): colour where seen from outside; sky_part, key_part (m,): share of that light that arrives;
    cover (m,): how much is edge; colours (3, 3): of which back and edges are used; lamps (2, 3): towards key and
    fill; strengths: key, fill, sky, rim, sheen, cavity [m].
    """
    key, fill, sky, rim, sheen, cavity = strengths
    for k in range(len(weight)):
        n0, n1, n2 = normal[k, 0], normal[k, 1], normal[k, 2]
        p0, p1, p2 = point[k, 0], point[k, 1], point[k, 2]
        away = -1.0 / np.sqrt(p0 * p0 + p1 * p1 + p2 * p2)
        v0, v1, v2 = away * p0, away * p1, away * p2  # towards the eye
        to_key = max(n0 * lamps[0, 0] + n1 * lamps[0, 1] + n2 * lamps[0, 2], 0.0)
        to_fill = max(n0 * lamps[1, 0] + n1 * lamps[1, 1] + n2 * lamps[1, 2], 0.0)
        to_eye = min(max(n0 * v0 + n1 * v1 + n2 * v2, 0.0), 1.0)
        h0, h1, h2 = v0 + lamps[0, 0], v1 + lamps[0, 1], v2 + lamps[0, 2]
        half = max(n0 * h0 + n1 * h1 + n2 * h2, 0.0) / np.sqrt(h0 * h0 + h1 * h1 + h2 * h2)
        direct = key * to_key * key_part[k]
        filled = fill * to_fill * sky_part[k]
        # The sky is brighter above; below, the ground throws some of it back.
        around = sky * (0.70 + 0.30 * n1) * sky_part[k]
        glint = sheen * min(4.0 * to_key, 1.0) * key_part[k] * half**20
        glint += rim * (1.0 - to_eye) ** 4 * sky_part[k] * (0.6 + 0.4 * n1)
        limit = HIGHEST if bend[k] > 0.0 else DEEPEST
        relief = 1.0 + limit * np.tanh(cavity * bend[k] / limit)
        part = weight[k]
        row, column = pixel[k, 0], pixel[k, 1]
        for c in range(3):
            lit = direct * KEY_TINT[c] + filled * FILL_TINT[c] + around * SKY_TINT[c]
            paint = front[k, c] if outside[k] else colours[1, c]
            paint += cover[k] * (colours[2, c] - paint)
            image[row, column, c] += part * (paint * lit * relief + glint * (1.0 - cover[k]))


@njit(nogil=True, error_model="numpy")
def _bilinear(corner, step, share, x, z):
    """Share of light at a place on the ground; all of it outside the rectangle."""
    u, v = (x - corner[0]) / step[0] - 0.5, (z - corner[1]) / step[1] - 0.5
    if not (u >= 0.0 and v >= 0.0 and u < share.shape[1] - 1 and v < share.shape[0] - 1):
        return 1.0
    i, j = int(v), int(u)
    a, b = u - j, v - i
    low = share[i, j] + a * (share[i, j + 1] - share[i, j])
    high = share[i + 1, j] + a * (share[i + 1, j + 1] - share[i + 1, j])
    return low + b * (high - low)


@njit(nogil=True, cache=True, error_model="numpy")
def backdrop(bare, first, height, unprojection, reach, floor, colours, key, sky, image):
    """Set the linear image (rows, width, 3) to ground and background where pixels are `bare` (rows, width).

    reach: distance from eye to target [m], the scale on which the ground fades into the background; floor:
    height of the ground over the eye [m], or 0 for none; colours (2, 3): ground, background; key, sky: a
    `GroundLight` each.
    """
    rows, width = bare.shape
    m = unprojection
    for row in range(rows):
        for column in range(width):
            part = bare[row, column]
            if part == 0.0:
                continue
            u, v = column + 0.5, first + row + 0.5
            # A little darker towards the corners, as a lens does.
            part *= 1.0 - 0.35 * (((u - 0.5 * width) / width) ** 2 + ((v - 0.5 * height) / width) ** 2)
            slope = m[1, 0] * u + m[1, 1] * v + m[1, 2]
            depth, fade, shade = 0.0, 0.0, 1.0
            if floor < 0.0 and slope < 0.0:
                depth = floor / slope
                fade = 1.0 - _smoothstep(0.9, 4.0, depth / reach)
            if fade > 0.0:
                x = depth * (m[0, 0] * u + m[0, 1] * v + m[0, 2])
                z = depth * (m[2, 0] * u + m[2, 1] * v + m[2, 2])
                dark = 0.42 * (1.0 - _bilinear(key[0], key[1], key[2], x, z))
                dark += 0.58 * (1.0 - _bilinear(sky[0], sky[1], sky[2], x, z))
                shade = 1.0 - fade * dark
            for c in range(3):
                colour = colours[1, c] + fade * (colours[0, c] - colours[1, c])
                image[row, column, c] = part * colour * shade


@njit(nogil=True, cache=True, error_model="numpy")
def encode(linear, curve, image):
    """sRGB bytes of linear light (rows, width, 3); the curve is a table over the square root."""
    rows, width, _ = linear.shape
    scale = (len(curve) - 1) / CURVE_END
    for row in range(rows):
        for column in range(width):
            for c in range(3):
                value = np.sqrt(max(linear[row, column, c], 0.0)) * scale + 0.5
                level = curve[int(min(value, len(curve) - 1.0))]
                image[row, column, c] = int(level + (DITHER[row % 4][column % 4] + 0.5) / 16.0)
