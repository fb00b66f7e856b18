/** Watches the files of a program. It watches their folders, because many editors replace a file instead of writing it. */
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Stamp, stampOf } from './app-module.ts';

/** An editor may write a file in several steps, or several files at once. */
const SETTLE_MS = 50;

export class FileWatch {
  readonly #changed: () => void;
  readonly #folders = new Map<string, FSWatcher>();
  #files: ReadonlyMap<string, Stamp> = new Map();
  #timer: NodeJS.Timeout | null = null;

  /** `changed` is called once for each set of files; `set` starts the watch again. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Watches these files instead. A file that changed since it was stamped counts at once. */
  set(files: ReadonlyMap<string, Stamp>): void {
    this.#files = files;
    const folders = new Set([...files.keys()].map((file) => dirname(file)));
    for (const [folder, watcher] of this.#folders) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of folders) if (!this.#folders.has(folder)) this.#watch(folder);
    this.#look();
  }

  close(): void {
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
    this.#files = new Map();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => {
        const isOurs = name === null || [...this.#files.keys()].some((file) => basename(file) === name);
        if (isOurs) this.#look();
      });
      // A folder that disappears takes its files with it, which the next look finds.
      watcher.on('error', () => this.#look());
      this.#folders.set(folder, watcher);
    } catch {
      // The folder of a file that is imported before it exists. The importing file will change, too.
    }
  }

  #look(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const changed = [...this.#files].some(([file, stamp]) => stampOf(file) !== stamp);
      if (!changed) return;
      this.#files = new Map();
      this.#changed();
    }, SETTLE_MS);
  }
}
