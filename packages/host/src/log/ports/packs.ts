/** Packs that tenants installed. */
/** A version of a pack that a tenant installed. The body is JSON of the registry. */
export interface PackRecord {
  readonly tenant: string;
  readonly name: string;
  readonly version: string;
  /** What the pack is by content. */
  readonly hash: string;
  readonly installedAt: number;
  readonly body: string;
}
