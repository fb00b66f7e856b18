/** The public address of a host: configured, or known once it listens. */
export class HostAddress {
  /** Without a trailing slash; null until it is known. */
  url: string | null;

  constructor(publicUrl: string | undefined) {
    this.url = publicUrl?.replace(/\/+$/, '') ?? null;
  }
}
