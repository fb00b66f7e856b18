/** What of a run the address names: the tab, the selected event, the moment. */

export const runTabs = ['conversation', 'timeline', 'causes', 'workflow', 'log'] as const;
export type RunTab = (typeof runTabs)[number];

export interface RunSearch {
  readonly tab?: RunTab | undefined;
  /** The sequence of the selected event. */
  readonly event?: number | undefined;
  /** Shows the run as it was after this event. */
  readonly at?: number | undefined;
}

/** Reads the query of an address. What it cannot read, it leaves out. */
export function parseRunSearch(raw: Readonly<Record<string, unknown>>): RunSearch {
  const tab = runTabs.find((name) => name === raw.tab);
  const event = sequence(raw.event);
  const at = sequence(raw.at);
  return {
    ...(tab !== undefined && { tab }),
    ...(event !== undefined && { event }),
    ...(at !== undefined && { at }),
  };
}

function sequence(value: unknown): number | undefined {
  const number = typeof value === 'number' || (typeof value === 'string' && value !== '') ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
