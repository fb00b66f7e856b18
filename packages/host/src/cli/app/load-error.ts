/** Says why the program of `cairn dev` cannot be used, with the file and the line if they can be found. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { promisify } from 'node:util';
import { isCairnError, thrownText } from '@cairn/protocol';
import { fieldsOf } from '../render/fields.ts';
import { type AppModule, placeInProgram } from './app-module.ts';

interface Place {
  readonly file: string;
  readonly line: number;
}

export interface LoadError {
  /** The message, after `file:line` if the place is known, else after the file that was loaded last. */
  readonly message: string;
  readonly hint: string | undefined;
  readonly hasPlace: boolean;
}

export async function loadError(error: unknown, module: AppModule, cwd: string): Promise<LoadError> {
  const place = await placeOf(error, module);
  const where = place === null ? relative(cwd, module.newest) : `${relative(cwd, place.file)}:${place.line}`;
  return {
    message: `${where}  ${messageOf(error, module)}`,
    hint: isCairnError(error) ? error.hint : undefined,
    hasPlace: place !== null,
  };
}

function messageOf(error: unknown, { missing }: AppModule): string {
  if (missing !== null) return `Cannot find ${missing.specifier}.`;
  if (isCairnError(error) || !(error instanceof Error)) return thrownText(error);
  return `${error.name}: ${error.message}`;
}

async function placeOf(error: unknown, module: AppModule): Promise<Place | null> {
  const { missing } = module;
  if (missing !== null) return lineOf(missing.importer, missing.specifier);
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const place = placeInProgram(stack);
  if (place !== null) return place;
  if (error instanceof SyntaxError) return checkedPlace(module.newest);
  return definitionPlace(error, module);
}

/** Node keeps the place of a syntax error in JavaScript to itself, unless it checks the file alone. */
async function checkedPlace(file: string): Promise<Place | null> {
  try {
    await promisify(execFile)(process.execPath, ['--check', file]);
    return null;
  } catch (error) {
    const line = /:(\d+)$/m.exec(String(fieldsOf(error).stderr).split('\n', 1)[0] ?? '')?.[1];
    return line === undefined ? null : { file, line: Number(line) };
  }
}

/** The host refuses a definition after the program has run, so no stack leads to it. Its id is in one place. */
function definitionPlace(error: unknown, { files }: AppModule): Place | null {
  const id = /^workflow (\S+?):/.exec(thrownText(error))?.[1];
  if (id === undefined) return null;
  const places = [...files.keys()].flatMap((file) => lineOf(file, id) ?? []);
  return places.length === 1 ? (places[0] ?? null) : null;
}

/** The first line with this text in quotes. */
function lineOf(file: string, text: string): Place | null {
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').split('\n');
  const index = lines.findIndex((line) => [`'${text}'`, `"${text}"`, `\`${text}\``].some((one) => line.includes(one)));
  return index === -1 ? null : { file, line: index + 1 };
}
