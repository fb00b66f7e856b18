/** One thing the doctor looked at. */
import { isCairnError } from '@cairn/protocol';

export interface Finding {
  readonly subject: string;
  /** `bad` keeps a host from working; `doubtful` is worth a look. */
  readonly state: 'good' | 'doubtful' | 'bad';
  readonly text: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
}

/** A look that fails is a finding, too. */
export async function looked(subject: string, look: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { subject, state: 'bad', text, hint: isCairnError(error) ? error.hint : undefined };
  }
}
