/** The result of one check of `cairn doctor`. */
import { isCairnError } from '@cairn/protocol';

export interface Finding {
  readonly subject: string;
  /** `bad` prevents a host from working; `doubtful` deserves attention. */
  readonly state: 'good' | 'doubtful' | 'bad';
  readonly text: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
}

/** Runs a check. A check that throws is a finding too. */
export async function check(subject: string, run: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await run();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { subject, state: 'bad', text, hint: isCairnError(error) ? error.hint : undefined };
  }
}
