/** Reads files of a pack that are found by their folder: each JSON file in it is one thing. */
import { isUtf8 } from 'node:buffer';
import { type Json, quoted, TerminalError } from '@cairn/protocol';
import type { PackFiles } from './pack-files.ts';
import { packJson, reasonOf } from './pack-json.ts';

interface PackData<Value> {
  /** Path inside the pack. */
  readonly path: string;
  readonly value: Value;
}

/** What a folder holds, and how it is read. */
export interface DataKind<Value> {
  readonly folder: string;
  /** Throws if it is wrong. */
  readonly parse: (json: Json) => Value;
  /** Of two with the same name, the second is refused. */
  readonly nameOf: (value: Value) => string;
}

/** Sorted by path, as the files are. */
export function dataIn<Value>(files: PackFiles, kind: DataKind<Value>): readonly PackData<Value>[] {
  const found: PackData<Value>[] = [];
  for (const [path, content] of files) {
    if (!isIn(kind.folder, path)) continue;
    const value = parsed(path, content, kind);
    const name = kind.nameOf(value);
    const twin = found.find((other) => kind.nameOf(other.value) === name);
    if (twin !== undefined) throw wrong(path, `it is the ${name}, as ${twin.path} is`);
    found.push({ path, value });
  }
  return found;
}

/** Folders below it do not count. */
const isIn = (folder: string, path: string): boolean =>
  path.startsWith(`${folder}/`) && path.endsWith('.json') && !path.includes('/', folder.length + 1);

function parsed<Value>(path: string, content: Buffer, { parse }: DataKind<Value>): Value {
  if (!isUtf8(content)) throw wrong(path, 'it is not UTF-8');
  try {
    return parse(packJson(content.toString('utf8')));
  } catch (error) {
    throw wrong(path, reasonOf(error));
  }
}

const wrong = (path: string, reason: string): TerminalError =>
  new TerminalError('invalid_manifest', {
    message: `The pack has ${quoted(path, 120)}, and ${quoted(reason, 300).slice(1, -1)}.`,
    hint: 'Correct the file; "cairn pack lint" checks a folder before it is sent.',
    details: { path },
  });
