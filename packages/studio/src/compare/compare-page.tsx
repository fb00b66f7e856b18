/** The two runs that the address names. */
import { getRouteApi } from '@tanstack/react-router';
import { CompareScreen } from './compare-screen.tsx';

const route = getRouteApi('/shell/compare/$a/$b');

export function ComparePage() {
  const { a, b } = route.useParams();
  return <CompareScreen a={a} b={b} />;
}
