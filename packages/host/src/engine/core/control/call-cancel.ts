/** A request to cancel one call. */
export interface CallCancel {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  readonly at: number;
}
