/** Only the folder of the ports has ports. */
export interface Door {
  open(): void;
}
