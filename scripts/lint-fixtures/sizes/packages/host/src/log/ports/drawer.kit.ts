/** A helper of tests is no port. */
export interface Hand {
  open(): void;
}
