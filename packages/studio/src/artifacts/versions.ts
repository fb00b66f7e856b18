/** The part of an address that names versions of an artifact. */
export interface VersionSearch {
  /** The version that is shown. Default: the current one. */
  readonly version?: number;
  /** The version that it is compared with. */
  readonly against?: number;
}

export function parseVersions({ version, against }: Record<string, unknown>): VersionSearch {
  return {
    ...(isVersion(version) && { version }),
    ...(isVersion(against) && { against }),
  };
}

const isVersion = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1_000_000_000;
