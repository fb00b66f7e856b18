/** The definitions and blobs of a bundle, and which of them its runs use. */

export class KnownParts {
  readonly definitions: ReadonlyMap<string, string>;
  /** Hashes. */
  readonly blobs = new Set<string>();
  readonly usedDefinitions = new Set<string>();
  readonly usedBlobs = new Set<string>();

  constructor(definitions: ReadonlyMap<string, string>) {
    this.definitions = definitions;
  }

  /** What no run needs, so that no host would have written it; null if there is nothing. */
  unused(): string | null {
    for (const hash of this.definitions.keys()) {
      if (!this.usedDefinitions.has(hash)) return `no run is pinned to the definition ${hash}`;
    }
    for (const hash of this.blobs) if (!this.usedBlobs.has(hash)) return `no event names the blob ${hash}`;
    return null;
  }
}
