/** Packs installed by tenants. */

export interface Packs {
  /** Installs a pack, replacing its other versions. `conflict` when the version ever existed with another hash. */
  put(record: PackRecord): Promise<void>;
  /** The last installed version of each pack that is not removed, sorted by name. */
  list(tenant: string): Promise<readonly PackRecord[]>;
  /** Removes all versions of a pack; true when it was installed. */
  drop(tenant: string, name: string): Promise<boolean>;
}

export interface PackRecord {
  readonly tenant: string;
  readonly name: string;
  readonly version: string;
  /** The hash of the pack's content. */
  readonly hash: string;
  readonly installedAt: number;
  /** JSON of the agent registry. */
  readonly body: string;
}
