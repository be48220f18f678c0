// SPDX-License-Identifier: Apache-2.0
// A site's memory over the run as a small line, from zero, without axes: the words beside it hold
// the numbers.

const kWide = 96;
const kHigh = 26;

export function Sparkline(props: { x: number[]; mb: number[]; tone: string }) {
  const { x, mb } = props;
  const first = x[0];
  const last = x[x.length - 1];
  if (first === undefined || last === undefined || x.length < 2 || last <= first) return null;
  const most = Math.max(...mb, 1e-9);
  const points = x.map((at, i) => {
    const left = 1 + ((at - first) / (last - first)) * (kWide - 2);
    const top = kHigh - 2 - (Math.max(0, mb[i] ?? 0) / most) * (kHigh - 4);
    return `${left.toFixed(1)},${top.toFixed(1)}`;
  });
  return (
    <svg class={`spark ${props.tone}`} width={kWide} height={kHigh} viewBox={`0 0 ${kWide} ${kHigh}`} aria-hidden="true">
      <line class="spark-ground" x1="0" x2={kWide} y1={kHigh - 1} y2={kHigh - 1} />
      <path class="spark-area" d={`M1,${kHigh - 1}L${points.join("L")}L${kWide - 1},${kHigh - 1}Z`} />
      <polyline class="spark-line" points={points.join(" ")} />
    </svg>
  );
}
