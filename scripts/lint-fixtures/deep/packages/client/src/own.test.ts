import { beside } from '../../protocol/src/id.ts'; // refused
import { kit } from '../../host/test/kit/clock.ts'; // refused
export const test = [beside, kit];
