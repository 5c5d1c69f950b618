// SPDX-License-Identifier: GPL-3.0-or-later
// Swept boxes, the patch tree, and the candidate pairs that its overlapping patches hold (docs/theory/method.md §6).
//
// A box is four vec: low and high where the motion begins, and where it ends; in between each border moves evenly, so that
// boxes of what falls together stay apart. What is free, and may stop anywhere on its way, has the box of its whole way at
// both ends. The fourth numbers are −1 and ½ where the box is new, 0 and −½ where it is not, so that two boxes overlap along
// the fourth axis too where one of them is new. Only such pairs are looked for: all in a detection, what strayed from it
// later. The tree is a complete binary tree in heap order over 2^depth patches.
// Variable-length output is made in two passes of the same kernel: with writing = 0 it counts, with 1 it writes up to
// end[element]; so buffers always fit, nothing is dropped, and the order never depends on the device.
#pragma once
#include "vector.h"

// Two boxes that may overlap at some time, one of them new: along no axis one stays below the other at both ends.
FUNCTION bool overlap(const vec *a, const vec *b)
{
    vec above = upper(b[1] - a[0], b[3] - a[2]), below = upper(a[1] - b[0], a[3] - b[2]);
    return none_negative(lower(above, below));  // the sign of a difference of floats is exact
}

FUNCTION void unite(vec *box, const vec *other)
{
    for (int k = 0; k < 4; k += 2)
        box[k] = lower(box[k], other[k]), box[k + 1] = upper(box[k + 1], other[k + 1]);
}

// Far from the origin a box's border is rounded by more than small inflations: borders give way by this share of their
// coordinates, 16 unit roundoffs, of which the sum needs 3 (docs/theory/float32.md).
const float BORDER = 9.5367431640625e-7f;  // 2^-20

FUNCTION float widened(float inflation, float a, float b)
{
    return inflation + BORDER * (maximum(fabsf(a), fabsf(b)) + inflation);
}

// Box of the ways of `size` corners from x0 to x1; free: (vertices) 1 where any part may be taken, 0 where all share one time.
FUNCTION void sweep(const int *corners, int size, const vec *x0, const vec *x1, const int *free, float inflation, vec *box)
{
    for (int k = 0; k < size; ++k) {
        int v = corners[k];
        vec low = lower(x0[v], x1[v]), high = upper(x0[v], x1[v]);
        vec way[4] = {x0[v], x0[v], x1[v], x1[v]}, whole[4] = {low, high, low, high};
        const vec *one = free[v] ? whole : way;
        if (k == 0)
            for (int j = 0; j < 4; ++j) box[j] = one[j];
        else unite(box, one);
    }
    for (int k = 0; k < 4; k += 2) {
        vec low = box[k], high = box[k + 1];
        vec margin = make_vec(widened(inflation, low.x, high.x), widened(inflation, low.y, high.y),
                              widened(inflation, low.z, high.z));
        box[k] = low - margin, box[k + 1] = high + margin;
    }
}

// The box of one primitive. fresh: 1 for vertices that are looked for; stale: 1 where the way is another than when the box
// was made. Primitives and their boxes lie in the order of the patches that own them, so that a patch reads one stretch of each.
KERNEL void swept_box(int i, const vec *x0 OF(vertices), const vec *x1 OF(vertices), const int *fresh OF(vertices),
                      const int *stale OF(vertices), const int *free OF(vertices), const int *corners OF(size * count),
                      int size, float inflation, vec *box OF(4 * count))
{
    const int *own = corners + size * i;
    vec *mine = box + 4 * i;
    bool any_fresh = false, any_stale = false;
    for (int k = 0; k < size; ++k) any_fresh |= fresh[own[k]] != 0, any_stale |= stale[own[k]] != 0;
    if (any_stale) sweep(own, size, x0, x1, free, inflation, mine);
    mine[0].w = mine[2].w = any_fresh ? -1.0f : 0.0f;
    mine[1].w = mine[3].w = any_fresh ? 0.5f : -0.5f;
}

// Leaf of patch p, and a copy of it among all patches'. first_patch: of the tree among all patches.
KERNEL void patch_box(int p, const int *start OF(first_patch + count + 1), const vec *triangle_box OF(4 * triangles),
                      int first_patch, int depth, vec *tree OF((4 << depth) + 4 * (count - 1)),
                      vec *boxes OF(4 * (first_patch + count)))
{
    int patch = first_patch + p;
    vec *node = tree + 4 * ((1 << depth) - 1 + p);
    for (int j = 0; j < 4; ++j) node[j] = triangle_box[4 * start[patch] + j];
    for (int k = start[patch] + 1; k < start[patch + 1]; ++k) unite(node, triangle_box + 4 * k);
    for (int j = 0; j < 4; ++j) boxes[4 * patch + j] = node[j];
}

KERNEL void tree_refit(int i, int first_node, vec *tree OF(8 * (first_node + count) + 4))
{
    int node = first_node + i, left = 2 * node + 1;
    for (int j = 0; j < 4; ++j) tree[4 * node + j] = tree[4 * left + j];
    unite(tree + 4 * node, tree + 4 * (left + 1));
}

// Patches of `other` tree whose boxes overlap patch p of `tree`. within: the same tree, so only partners q ≥ p. noted: how many
// the counting pass found and the first of them, `notes` numbers in all; more are looked for again.
KERNEL void overlapping_patches(int p, const vec *tree OF((8 << depth) - 4), int depth,
                                const vec *other OF((8 << other_depth) - 4), int other_depth, int other_first,
                                int within, int notes, int *noted OF(notes * count), int writing, int *counts OF(count),
                                const int *end OF(count), int *pairs OF(2 * listed))
{
    int *found = noted + notes * p, start = writing ? end[p] - counts[p] : 0;
    if (writing && found[0] < notes) {
        for (int k = 0; k < found[0]; ++k) pairs[2 * (start + k)] = p, pairs[2 * (start + k) + 1] = found[k + 1];
        return;
    }
    const vec *box = tree + 4 * ((1 << depth) - 1 + p);
    int count = 0, node = 0, level = 0, leaves = (1 << other_depth) - 1;
    for (;;) {
        int index = node - ((1 << level) - 1);
        int last_leaf = ((index + 1) << (other_depth - level)) - 1;
        bool enter = !(within && last_leaf < p) && overlap(box, other + 4 * node);
        if (enter && level < other_depth) {
            node = 2 * node + 1, ++level;
            continue;
        }
        if (enter) {
            int partner = other_first + node - leaves, at = start + count;
            if (writing) pairs[2 * at] = p, pairs[2 * at + 1] = partner;
            else if (count < notes - 1) found[count + 1] = partner;
            ++count;
        }
        while (node != 0 && (node & 1) == 0) node = (node - 1) / 2, --level;  // up from right children
        if (node == 0) break;
        ++node;  // to the right sibling
    }
    if (!writing) counts[p] = found[0] = count;
}

FUNCTION bool has_corner(const int *corners, int size, int v)
{
    for (int k = 0; k < size; ++k)
        if (corners[k] == v) return true;
    return false;
}

// noted: the next overlap that the counting pass found, or will find.
struct candidate_writer {
    int count, at, writing;
    int *noted, *feature, *corner;
};

FUNCTION void emit(candidate_writer *out, int a, int b, int c0, int c1, int c2, int c3)
{
    if (out->writing) {
        int k = out->at + out->count;
        out->feature[2 * k] = a, out->feature[2 * k + 1] = b;
        out->corner[4 * k] = c0, out->corner[4 * k + 1] = c1, out->corner[4 * k + 2] = c2, out->corner[4 * k + 3] = c3;
    }
    ++out->count;
}

// The first of the overlaps `met`, which were noted last, is no candidate.
FUNCTION void reject(candidate_writer *out, int met) { out->noted[-1] &= ~(met & -met); }

// Bit k: the k-th primitive of patch p overlaps the box; found in the counting pass, read back in the writing one. A patch
// has at most 24 primitives of a kind. No branches: what overlaps what is as good as random, and a processor that guesses
// wrong half of the time spends its time on that.
FUNCTION int overlapping(candidate_writer *out, const vec *box, int p, const int *start, const vec *primitive_box)
{
    if (out->writing) return *out->noted++;
    int bits = 0;
    for (int k = start[p]; k < start[p + 1]; ++k)
        bits |= static_cast<int>(overlap(primitive_box + 4 * k, box)) << (k - start[p]);
    return *out->noted++ = bits;
}

FUNCTION void vertices_against_triangles(candidate_writer *out, int p, int q, const vec *box_q, const int *vertex_start,
                                         const int *vertices, const int *triangle_start, const int *triangles,
                                         const vec *vertex_box, const vec *triangle_box, const int *corners,
                                         const int *vertex_class, const int *triangle_class, int classes, const int *apart)
{
    for (int near = overlapping(out, box_q, p, vertex_start, vertex_box); near != 0; near &= near - 1) {
        int k = vertex_start[p] + lowest_bit(near), v = vertices[k];
        const int *own = apart + classes * vertex_class[k];
        int met = overlapping(out, vertex_box + 4 * k, q, triangle_start, triangle_box);
        for (; met != 0; met &= met - 1) {
            int t = triangle_start[q] + lowest_bit(met);
            const int *c = corners + 3 * t;
            bool cord = c[1] == c[2];
            if (!out->writing && (cord || has_corner(c, 3, v) || own[triangle_class[t]])) reject(out, met);
            else emit(out, v, triangles[t], v, c[0], c[1], c[2]);
        }
    }
}

FUNCTION void edges_against_edges(candidate_writer *out, int p, int q, const vec *box_q, const int *edge_start,
                                  const int *edges, const vec *edge_box, const int *corners, const int *edge_class,
                                  int classes, const int *apart)
{
    for (int near = overlapping(out, box_q, p, edge_start, edge_box); near != 0; near &= near - 1) {
        int k = lowest_bit(near), one = edge_start[p] + k;
        const int *own = apart + classes * edge_class[one];
        int met = overlapping(out, edge_box + 4 * one, q, edge_start, edge_box);
        if (p == q) met &= ~((2 << k) - 1);  // each pair once
        for (; met != 0; met &= met - 1) {
            int other = edge_start[q] + lowest_bit(met), e = one, f = other;
            bool passes = own[edge_class[other]] != 0;
            if (edges[one] > edges[other]) e = other, f = one;
            const int *c = corners + 2 * e, *d = corners + 2 * f;
            if (!out->writing &&
                (has_corner(d, 2, c[0]) || has_corner(d, 2, c[1]) || passes)) reject(out, met);
            else emit(out, ~edges[e], edges[f], c[0], c[1], d[0], d[1]);
        }
    }
}

// Candidates of one pair of patches: every vertex, edge and triangle belongs to one patch, so no pair comes twice.
// *_class: of the features, in the order of the patches; apart: by two classes, 1 where there is no pair to be.
// feature: (vertex, triangle), or (~edge, edge) with the smaller edge first; corner: the four vertices. noted: what the counting
// pass hands to the writing one, `notes` at most for a pair of patches.
KERNEL void candidates(int i, const int *patches OF(2 * count), const vec *patch_boxes OF(4 * boxes),
                       const int *vertex_start OF(boxes + 1), const int *vertices OF(vertex_slots),
                       const int *edge_start OF(boxes + 1), const int *edges OF(edge_slots),
                       const int *triangle_start OF(boxes + 1), const int *triangles OF(triangle_slots),
                       const vec *vertex_box OF(4 * vertex_slots), const vec *edge_box OF(4 * edge_slots),
                       const vec *triangle_box OF(4 * triangle_slots), const int *edge_corners OF(2 * edge_slots),
                       const int *triangle_corners OF(3 * triangle_slots), const int *vertex_class OF(vertex_slots),
                       const int *edge_class OF(edge_slots), const int *triangle_class OF(triangle_slots), int classes,
                       const int *apart OF(classes * classes), int notes, int *noted OF(notes * count), int writing,
                       int *counts OF(count), const int *end OF(count), int *feature OF(listed), int *corner OF(cornered))
{
    int p = patches[2 * i], q = patches[2 * i + 1];
    candidate_writer out;
    out.count = 0, out.writing = writing, out.at = writing ? end[i] - counts[i] : 0, out.feature = feature, out.corner = corner;
    out.noted = noted + notes * i;
    vertices_against_triangles(&out, p, q, patch_boxes + 4 * q, vertex_start, vertices, triangle_start, triangles,
                               vertex_box, triangle_box, triangle_corners, vertex_class, triangle_class, classes, apart);
    if (p != q)
        vertices_against_triangles(&out, q, p, patch_boxes + 4 * p, vertex_start, vertices, triangle_start, triangles,
                                   vertex_box, triangle_box, triangle_corners, vertex_class, triangle_class, classes, apart);
    edges_against_edges(&out, p, q, patch_boxes + 4 * q, edge_start, edges, edge_box, edge_corners, edge_class, classes,
                        apart);
    if (!writing) counts[i] = out.count;
}

// The ways of vertices are drawn out beyond a motion, for the steps to come: all of a way takes the time from 0 to 1, of which the
// motion of the moment takes what is from `first` to `last`.

// Where a vertex is at a time of its way. rounding: how far that may be off, in m, 4 unit roundoffs of each number, of which 3
// are needed; at its ends it is exact.
FUNCTION vec way_at(vec start, vec end, float time, float *rounding)
{
    *rounding = 0.0f;
    if (time == 0.0f) return start;
    if (time == 1.0f) return end;
    *rounding = 0.25f * BORDER * (length(start) + length(end));
    return start + time * (end - start);
}

// How far a vertex on its way x0 → x1 strays at most from its way start → end: from where it should be at the time, or from any
// place on it if it is free.
FUNCTION float way_stray(vec x0, vec x1, vec start, vec end, bool free, float first, float last)
{
    float most = 0.0f;
    if (free) {
        vec way = end - start, ends[2] = {x0 - start, x1 - start};
        float square = dot(way, way);
        for (int k = 0; k < 2; ++k) {
            float t = square > 0.0f ? clamp(dot(ends[k], way) / square, 0.0f, 1.0f) : 0.0f;
            most = maximum(most, length(ends[k] - t * way) + BORDER * (length(ends[k]) + sqrtf(square)));
        }
        return most;
    }
    for (int k = 0; k < 2; ++k) {
        float rounding, off = length((k == 0 ? x0 : x1) - way_at(start, end, k == 0 ? first : last, &rounding));
        most = maximum(most, off + BORDER * off + rounding);
    }
    return most;
}

// The way that leads from one place to another in the time from `since` to `last`, from its beginning to its end; one that takes
// no time stands.
FUNCTION void draw_out(vec from, vec to, float since, float last, vec *start, vec *end)
{
    vec pace = since < last ? (1.0f / (last - since)) * (to - from) : make_vec(0.0f, 0.0f, 0.0f);
    *start = from - since * pace, *end = to + (1.0f - last) * pace;
}

// The `fresh` vertices are looked for on their ways of the moment, drawn out. Their pace is that from where the last step would
// have taken them, `before`, to where this one does (as far as `known`): what falls and what lies still go on so; else it is the
// motion's. A motion that takes no time corrects the end of another: the way then leads through its middle, from where the old one
// was at the time `since`. What may take any part of the motion (free_now) may be at any place of it at any time; so may what such
// ways would miss by more than `most`, since it was corrected by much, had no pace, or is so far from the origin that numbers are
// too coarse. stale: 1 where the way is another than when the box was made.
KERNEL void renew_way(int v, const vec *x0 OF(count), const vec *x1 OF(count), const vec *before OF(count), int known,
                      const int *free_now OF(count), const int *fresh OF(count), float since, float first, float last,
                      float most, vec *way_start OF(count), vec *way_end OF(count), int *free OF(count),
                      int *stale OF(count), float *stray OF(count))
{
    if (!fresh[v]) return;
    vec start = x0[v], end = x1[v], middle = 0.5f * (x0[v] + x1[v]), half = 0.5f * (x1[v] - before[v]);
    bool corrects = !(first < last), any = free_now[v] != 0 || (corrects && free[v] != 0);
    float off = 2.0f * most + 1.0f;
    if (!any && (corrects || known)) {
        float rounding;
        vec from = corrects ? way_at(way_start[v], way_end[v], since, &rounding) : middle - half;
        draw_out(from, corrects ? middle : middle + half, since, last, &start, &end);
        off = way_stray(x0[v], x1[v], start, end, false, first, last);
    }
    if (!any && !corrects && !(off <= most)) {
        draw_out(x0[v], x1[v], since, last, &start, &end);
        off = way_stray(x0[v], x1[v], start, end, false, first, last);
    }
    any = any || !(off <= most);
    way_start[v] = any ? x0[v] : start, way_end[v] = any ? x1[v] : end, free[v] = any;
    stray[v] = any ? 0.0f : off, stale[v] = 1;
}

// All ways have come to their ends: there they begin anew, and stand until they are renewed.
KERNEL void settle_way(int v, const int *free OF(count), vec *way_start OF(count), const vec *way_end OF(count),
                       int *stale OF(count))
{
    if (free[v]) return;
    way_start[v] = way_end[v], stale[v] = 1;
}

KERNEL void clear_number(int i, int *to OF(count))
{
    to[i] = 0;
}

// The indices that are flagged, ascending. end: how many are up to each.
KERNEL void place_flagged(int i, const int *flag OF(count), const int *end OF(count), int *found OF(flagged))
{
    if (flag[i]) found[end[i] - 1] = i;
}

// fresh: 1 where a vertex on its way x0 → x1 strays from where it was looked for by more than the margin; strayed: how many they are.
KERNEL void sweep_stray(int v, const vec *x0 OF(count), const vec *x1 OF(count), const vec *way_start OF(count),
                        const vec *way_end OF(count), const int *free OF(count), float first, float last, float margin,
                        float *stray OF(count), int *fresh OF(count), int *strayed OF(1))
{
    stray[v] = way_stray(x0[v], x1[v], way_start[v], way_end[v], free[v] != 0, first, last);
    fresh[v] = stray[v] > margin;
    if (fresh[v]) ATOMIC_SUM(strayed, 1);
}
