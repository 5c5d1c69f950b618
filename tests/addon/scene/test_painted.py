# SPDX-License-Identifier: GPL-3.0-or-later
"""Paint as it is read: vertex groups and attributes of the evaluated mesh, and every refusal."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.interface.paint_operators import LAYER, colours
from taffeta.addon.scene import checks, modifier
from taffeta.addon.scene.assignment import assign
from taffeta.addon.scene.gather import gather, members
from taffeta.gpu_core.scene.scene import SceneError


def read():
    bpy.context.view_layer.update()
    return gather(bpy.context)


def refusal() -> SceneError:
    with pytest.raises(SceneError) as caught:
        read()
    assert caught.value.object == "Cloth"
    assert caught.value.remedy
    return caught.value


def attribute(item, values, name="Soft", kind="FLOAT", domain="POINT"):
    made = item.data.attributes.new(name, kind, domain)
    made.data.foreach_set("value", np.asarray(values))
    return made


def along_x(item):
    return np.array([vertex.co.x + 0.5 for vertex in item.data.vertices], np.float32)


def test_a_vertex_group_is_the_weights_and_the_second_value_begins_at_the_first(make_cloth):
    item = make_cloth()
    group = item.vertex_groups.new(name="Hem")
    group.add([0, 1, 2], 0.25, "REPLACE")
    item.taffeta.cloth.density = 0.3
    item.taffeta.cloth.density_group = "Hem"
    painted = read().cloths[0].painted
    assert set(painted) == {"density"}
    assert painted["density"].maximum == 0.3
    assert painted["density"].weights.tolist() == [0.25] * 3 + [0.0] * 22
    item.taffeta.cloth.density_max = 0.9
    assert read().cloths[0].painted["density"].maximum == 0.9


def test_an_attribute_is_the_weights_held_to_0_and_1(make_cloth):
    item = make_cloth()
    attribute(item, 3.0 * along_x(item) - 1.0)
    item.taffeta.cloth.bend_group = item.taffeta.cloth.pin_group = "Soft"
    cloth = read().cloths[0]
    expected = np.clip(3.0 * along_x(item) - 1.0, 0.0, 1.0)
    assert cloth.painted["bend"].weights == pytest.approx(expected)
    assert cloth.pins.vertices.tolist() == np.flatnonzero(expected).tolist()
    assert cloth.pins.weights == pytest.approx(expected[expected > 0])


def nodes_that_store(item, name="Made"):
    """Geometry nodes that store each vertex's x + ½ as a float attribute."""
    tree = bpy.data.node_groups.new("Store", "GeometryNodeTree")
    for kind in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=kind, socket_type="NodeSocketGeometry")
    begin, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    store, place, parts = (
        tree.nodes.new(f"{name}")
        for name in ("GeometryNodeStoreNamedAttribute", "GeometryNodeInputPosition", "ShaderNodeSeparateXYZ")
    )
    add = tree.nodes.new("ShaderNodeMath")
    store.data_type, store.domain = "FLOAT", "POINT"
    store.inputs["Name"].default_value = name
    tree.links.new(begin.outputs[0], store.inputs["Geometry"])
    tree.links.new(place.outputs[0], parts.inputs[0])
    tree.links.new(parts.outputs["X"], add.inputs[0])
    tree.links.new(add.outputs[0], next(s for s in store.inputs if s.name == "Value" and s.enabled))
    tree.links.new(store.outputs[0], end.inputs[0])
    entry = item.modifiers.new("Nodes", "NODES")
    entry.node_group = tree
    return entry


def test_an_attribute_that_geometry_nodes_make_counts_and_the_cache_comes_after_them(make_cloth):
    item = make_cloth()
    nodes_that_store(item)
    item.taffeta.cloth.shear_group = "Made"
    assert read().cloths[0].painted["shear"].weights == pytest.approx(along_x(item))
    assert not [trouble for trouble in checks.troubles(bpy.context.scene, members(bpy.context.scene)) if trouble.mend]
    assert modifier.place(item) == 1
    item.taffeta.cloth.shear_group = ""
    assert modifier.place(item) == 0


def test_what_a_node_group_gives_out_under_a_name_counts_too(make_cloth):
    item = make_cloth()
    entry = nodes_that_store(item, "Other")
    height = entry.node_group.interface.new_socket("Height", in_out="OUTPUT", socket_type="NodeSocketFloat")
    parts, end = (
        next(n for n in entry.node_group.nodes if n.bl_idname == kind) for kind in ("ShaderNodeMath", "NodeGroupOutput")
    )
    entry.node_group.links.new(parts.outputs[0], end.inputs["Height"])
    name_output(entry, height, "Given")
    item.taffeta.cloth.pin_group = "Given"
    assert modifier.written(entry) == {"Given"}
    assert modifier.place(item) == 1
    assert read().cloths[0].pins.weights == pytest.approx(along_x(item)[along_x(item) > 0])


def name_output(entry, socket, name):
    if hasattr(entry, "properties"):  # Blender 5.2
        getattr(entry.properties.outputs, socket.identifier).attribute_name = name
    else:
        entry[f"{socket.identifier}_attribute_name"] = name
    entry.id_data.update_tag()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda item: None, "there is no vertex group or attribute “Soft” for its bend"),
        (lambda item: attribute(item, np.full(25, np.nan)), "“Soft” for its bend is not a number at vertex 0"),
        (lambda item: attribute(item, np.ones(16), domain="FACE"), "“Soft” for its bend has one float for each face"),
        (
            lambda item: attribute(item, np.ones(25, np.int32), kind="INT"),
            "“Soft” for its bend has one int for each point",
        ),
    ],
)
def test_paint_that_cannot_be_read_is_refused_by_name(make_cloth, harm, words):
    item = make_cloth()
    harm(item)
    item.taffeta.cloth.bend_group = "Soft"
    assert words in refusal().problem


def test_a_modifier_that_changes_the_vertices_is_refused_before_its_paint(make_cloth):
    item = make_cloth()
    attribute(item, np.ones(25))
    item.taffeta.cloth.bend_group = "Soft"
    item.modifiers.new("Taffeta Cache", "MESH_CACHE")
    item.modifiers.new("Refine", "SUBSURF")
    item.modifiers.move(1, 0)
    assert "“Refine” changes the number of vertices" in refusal().problem


def test_infinity_is_the_end_of_the_range(make_cloth):
    item = make_cloth()
    attribute(item, np.full(25, np.inf))
    item.taffeta.cloth.bend_group = "Soft"
    assert (read().cloths[0].painted["bend"].weights == 1.0).all()


def test_set_takes_groups_and_second_values(scene, make_cloth):
    item = make_cloth()
    item.vertex_groups.new(name="Hem")
    assert assign(scene, "Cloth", "bend_group", "Hem") == "Hem"
    assert assign(scene, "Cloth", "bend_max", "1e-4") == 1e-4
    assert assign(scene, "scene", "time_scale", "0.5") == 0.5
    found = read()
    assert found.cloths[0].painted["bend"].maximum == 1e-4
    assert found.settings.time_scale == 0.5


def test_paint_is_shown_as_colours_and_hidden_again(scene, make_cloth):
    item = make_cloth()
    bpy.context.view_layer.objects.active = item
    attribute(item, along_x(item))
    with pytest.raises(RuntimeError, match="Bend is not painted"):
        bpy.ops.taffeta.show_paint(number="bend")
    item.taffeta.cloth.bend_group = "Soft"
    assert bpy.ops.taffeta.show_paint(number="bend") == {"FINISHED"}
    shown = np.empty((25, 4), np.float32)
    item.data.color_attributes[LAYER].data.foreach_get("color", shown.ravel())
    assert shown == pytest.approx(colours(along_x(item)), abs=1e-6)
    assert shown[0].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert shown[4].tolist() == [1.0, 0.0, 0.0, 1.0]
    assert item.data.color_attributes.active_color.name == LAYER
    bpy.ops.taffeta.hide_paint()
    assert LAYER not in item.data.color_attributes
