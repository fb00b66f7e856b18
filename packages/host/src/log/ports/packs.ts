/** Packs that tenants installed. */

export interface Packs {
  /** Installs a pack in place of its other versions. `conflict` when the version ever existed with another hash. */
  put(record: PackRecord): Promise<void>;
  /** The version installed last of each pack that was not removed, by name. */
  list(tenant: string): Promise<readonly PackRecord[]>;
  /** Removes a pack, in all versions; true when it was installed. */
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
