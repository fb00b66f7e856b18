/** `npm run docs:screenshot`: the picture of a run in the README, `docs/images/run.png`. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { launchBrowser } from '../browser/chromium.ts';
import { newPageContext, openStage, signedIn } from './stage.ts';

const file = join(import.meta.dirname, '../../docs/images/run.png');
const MAX_BYTES = 250_000;

mkdirSync(dirname(file), { recursive: true });
const [stage, browser] = await Promise.all([openStage(), launchBrowser()]);
try {
  const inputs = { topic: 'Tidal power in the Bay of Fundy' };
  const { runId } = await stage.client.runs.create({ workflowId: 'research-crew', inputs });
  await stage.client.runs.wait(runId);
  const page = await signedIn(stage, await newPageContext(browser));
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(`${stage.url}/runs/${runId}?tab=conversation`);
  await page.getByText('Run completed').waitFor();
  await page.locator('.conversation').evaluate((list) => list.scrollTo(0, 0));
  await page.locator('.talk', { hasText: 'openwop:time' }).locator('.talk-seq').first().click();
  await page
    .getByRole('complementary', { name: /^Event / })
    .getByText('openwop:time')
    .first()
    .waitFor();
  await page.screenshot({ path: file });
} finally {
  await browser.close();
  await stage.close();
}
const { size } = statSync(file);
if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_BYTES}.`);
process.stdout.write(`${file}, ${size} bytes\n`);
