/** What the function of a tool returns when another host performed the call. */
import type { CairnError, RemoteRun } from '@cairn/protocol';

export class RemoteResult {
  readonly end: { readonly value: unknown } | { readonly error: CairnError };
  /** The run that the call started there, as that host says. */
  readonly remote: RemoteRun | undefined;

  constructor(end: RemoteResult['end'], remote: RemoteRun | undefined) {
    this.end = end;
    this.remote = remote;
  }
}
