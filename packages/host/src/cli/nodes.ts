/** `cairn nodes`: lists the node types that workflows can use, or shows one. */
import { isJsonObject, type JsonObject, type NodeTypeDescriptor, TerminalError } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { fieldsOf } from './render/fields.ts';
import { jsonLine, oneLine, type Style, safe, styleOf } from './render/style.ts';
import { table } from './render/table.ts';
import type { Terminal } from './terminal.ts';

export function nodes(terminal: Terminal, typeId: string | undefined, flags: HostFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const style = styleOf(terminal.colours.out);
    const types = await client.workflows.nodeTypes();
    if (typeId === undefined) {
      if (flags.json === true) terminal.print(jsonLine({ nodeTypes: types }));
      else for (const line of list(types, style, terminal.columns)) terminal.print(line);
      return exit.ok;
    }
    const type = found(types, typeId);
    if (flags.json === true) terminal.print(jsonLine(type));
    else for (const line of page(type, style)) terminal.print(line);
    return exit.ok;
  });
}

/** `delay` is enough for `core.delay`, if no other type ends in it. */
function found(types: readonly NodeTypeDescriptor[], asked: string): NodeTypeDescriptor {
  const ending = types.filter(({ typeId }) => typeId.endsWith(`.${asked}`));
  const type = types.find(({ typeId }) => typeId === asked) ?? (ending.length === 1 ? ending[0] : undefined);
  if (type !== undefined) return type;
  const ids = types.map(({ typeId }) => typeId);
  const near = nearest(asked, [...ids, ...ids.map((id) => id.slice(id.lastIndexOf('.') + 1))]);
  throw new TerminalError('not_found', {
    message: `There is no node type ${asked}.`,
    hint: near === null ? '"cairn nodes" lists all node types.' : `Did you mean ${near}?`,
  });
}

const list = (types: readonly NodeTypeDescriptor[], style: Style, columns: number | null): readonly string[] =>
  table(
    types.map(({ typeId, summary, safety }) => [
      safe(typeId),
      oneLine(summary ?? (safety === undefined ? '' : `a step, ${safety}`)),
    ]),
    { header: ['TYPE', 'PURPOSE'], style, columns },
  );

/** Not cut at the width of the terminal: every word counts here. */
function page(type: NodeTypeDescriptor, style: Style): readonly string[] {
  const { typeId, summary, safety, configSchema, inputs, outputs, otherOutputs, ports } = type;
  const block = (title: string, rows: readonly (readonly string[])[]) =>
    rows.length === 0 ? [] : ['', style.dim(title), ...table(rows, { style, columns: null, indent: '  ' })];
  const named = (names: Readonly<Record<string, string>> = {}) =>
    Object.entries(names).map(([name, text]) => [safe(name), oneLine(text)]);
  const others = otherOutputs === undefined ? [] : [['…', oneLine(otherOutputs)]];
  return [
    style.bold(safe(typeId)),
    ...(summary === undefined ? [] : [`  ${oneLine(summary)}`]),
    ...(safety === undefined ? [] : [`  safety ${safe(safety)}`]),
    ...block('settings', settingRows(configSchema, style)),
    ...block('inputs', named(inputs)),
    ...block('outputs', [...named(outputs), ...others]),
    ...block('ports', named(ports)),
  ];
}

/** One row for each setting. The variants of a union share their rows. */
function settingRows(schema: JsonObject, style: Style): readonly (readonly string[])[] {
  const variants = Array.isArray(schema.oneOf) ? schema.oneOf.filter(isJsonObject) : [schema];
  const rows = new Map<string, readonly string[]>();
  for (const variant of variants) {
    const required = Array.isArray(variant.required) ? variant.required : [];
    for (const [name, property] of Object.entries(fieldsOf(variant.properties))) {
      if (rows.has(name)) continue;
      const { description } = fieldsOf(property);
      const need = required.includes(name) ? 'required' : style.dim('optional');
      rows.set(name, [safe(name), oneLine(kindOf(property), 40), need, oneLine(description ?? '')]);
    }
  }
  return [...rows.values()];
}

/** The type, the values or the variants of a property. */
function kindOf(property: unknown): string {
  const { type, enum: values, anyOf } = fieldsOf(property);
  if (Array.isArray(values)) return values.join(' | ');
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(kindOf))].join(' | ');
  return typeof type === 'string' ? type : 'any';
}
