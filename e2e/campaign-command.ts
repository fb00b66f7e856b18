/** A campaign as a command: reads how often and by which seed, tells progress and the report, and exits by what was broken. */
import { parseArgs } from 'node:util';

export interface CampaignOptions {
  readonly times: number;
  readonly seed: string;
  readonly progress: (text: string) => void;
}

export interface CampaignCommand {
  readonly usage: string;
  /** The option that says how often, and how often it is without. */
  readonly option: string;
  readonly usually: number;
  run(options: CampaignOptions): Promise<{ readonly breaches: readonly unknown[]; readonly folder: string | null }>;
}

/** The exit code: 0 when every promise was kept, 1 when one was broken, 2 for wrong usage. */
export async function campaignCommand({ usage, option, usually, run }: CampaignCommand): Promise<number> {
  let times: number;
  let seed: string;
  try {
    const { values } = parseArgs({
      options: {
        [option]: { type: 'string', default: String(usually) },
        seed: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    if (values.help === true) {
      process.stdout.write(usage);
      return 0;
    }
    times = Number(values[option]);
    if (!Number.isInteger(times) || times < 1) {
      throw new TypeError(`--${option} takes a whole number from 1, not "${values[option]}".`);
    }
    seed = typeof values.seed === 'string' ? values.seed : crypto.randomUUID().slice(0, 8);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  process.stderr.write(`seed ${seed}\n`);
  const report = await run({ times, seed, progress: (text) => process.stderr.write(`${text}\n`) });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (report.breaches.length === 0) return 0;
  process.stderr.write(`${report.breaches.length} promises broken; the data is in ${report.folder}\n`);
  return 1;
}
