/**
 * Imports the program of `cairn dev`, again after each change. Node keeps a module by its URL for as long as the process
 * lives, so each load gives the URLs of the program's own files a new number. Packages are imported once.
 */
import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What a file looked like before a load read it. */
export type Stamp = string;

/** A relative import that leads to no file. */
export interface MissingImport {
  readonly specifier: string;
  readonly importer: string;
}

const LOAD = 'cairn-load';

export class AppModule {
  readonly #url: string;
  #load = 0;
  #files = new Map<string, Stamp>();
  #missing: MissingImport | null = null;
  #newest: string;

  constructor(file: string) {
    this.#newest = file;
    this.#url = pathToFileURL(file).href;
    registerHooks({
      resolve: (specifier, context, next) => {
        if (!isOfLoad(context.parentURL, this.#load) || !isOwn(specifier)) return next(specifier, context);
        const found = this.#resolved(specifier, context.parentURL ?? '', () => next(specifier, context));
        return found.url.startsWith('file:') ? { ...found, url: this.#noted(found.url) } : found;
      },
    });
  }

  /** The files that the last load read, even if it failed, with the state they were in. */
  get files(): ReadonlyMap<string, Stamp> {
    return this.#files;
  }

  /** The import that ended the last load; null if it ended otherwise. */
  get missing(): MissingImport | null {
    return this.#missing;
  }

  /** The file that the last load found last. An error without a place is most likely in it. */
  get newest(): string {
    return this.#newest;
  }

  /** Returns the default export, or throws what the program throws. */
  async load(): Promise<unknown> {
    this.#load += 1;
    this.#files = new Map();
    this.#missing = null;
    const module: { readonly default?: unknown } = await import(this.#noted(this.#url));
    return module.default;
  }

  #noted(url: string): string {
    const file = fileURLToPath(url);
    if (!this.#files.has(file)) this.#files.set(file, stampOf(file));
    this.#newest = file;
    return `${url}?${LOAD}=${this.#load}`;
  }

  /** Notes where a missing file should be, so that the load is repeated when it is created. */
  #resolved<Found>(specifier: string, parentUrl: string, resolve: () => Found): Found {
    try {
      return resolve();
    } catch (error) {
      const importer = fileURLToPath(parentUrl);
      this.#missing ??= { specifier, importer };
      if (specifier.startsWith('.')) this.#files.set(fileURLToPath(new URL(specifier, parentUrl)), ABSENT);
      throw error;
    }
  }
}

const ABSENT: Stamp = 'absent';

/** Changes with each write of the file. */
export function stampOf(file: string): Stamp {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? ABSENT : `${found.mtimeMs} ${found.size} ${found.ino}`;
}

const isOfLoad = (url: string | undefined, load: number): boolean => url?.endsWith(`?${LOAD}=${load}`) === true;

/** Relative and absolute paths, and `#names` of the program's own package.json. Everything else is a package. */
const isOwn = (specifier: string): boolean => /^(\.{0,2}\/|file:|#)/.test(specifier);

/** The file and line of a stack frame or of the first line of a syntax error, if it is one of the program. */
export function placeInProgram(text: string): { readonly file: string; readonly line: number } | null {
  const found = new RegExp(`(file:[^\\s()]+)\\?${LOAD}=\\d+:(\\d+)`).exec(text);
  return found === null ? null : { file: fileURLToPath(found[1] ?? ''), line: Number(found[2]) };
}
