//! Which triangles meet at which edge.

/// An edge of a triangle: smaller and larger vertex index, triangle, and whether it runs from the smaller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    // 32 bits: the list is the largest of all on the way, three sides a triangle.
    lower: u32,
    upper: u32,
    triangle: u32,
    pub(super) forward: bool,
}

impl Side {
    pub(super) fn triangle(&self) -> usize {
        self.triangle as usize
    }

    fn ends(&self) -> (usize, usize) {
        (self.lower as usize, self.upper as usize)
    }
}

/// The sides of all triangles, sorted: those of an edge are neighbours.
pub(super) struct Edges {
    sides: Vec<Side>,
}

impl Edges {
    pub(super) fn of(triangles: &[[usize; 3]]) -> Self {
        let mut sides = Vec::with_capacity(3 * triangles.len());
        for (triangle, corners) in (0..).zip(triangles) {
            let [a, b, c] = corners.map(|i| i as u32);
            for (i, j) in [(a, b), (b, c), (c, a)] {
                sides.push(Side { lower: i.min(j), upper: i.max(j), triangle, forward: i < j });
            }
        }
        sides.sort_unstable();
        Self { sides }
    }

    /// The sides at each edge.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[Side]> {
        self.sides.chunk_by(|x, y| (x.lower, x.upper) == (y.lower, y.upper))
    }

    /// How many edges have a number of triangles that `is_defect`, the vertices of the first one, and the most triangles
    /// at one of them.
    pub(super) fn defects(
        &self,
        is_defect: impl Fn(usize) -> bool,
    ) -> Option<(usize, (usize, usize), usize)> {
        let mut defects = self.iter().filter(|sides| is_defect(sides.len()));
        let first = defects.next()?;
        let (count, most) = defects.fold((1, first.len()), |(n, m), s| (n + 1, m.max(s.len())));
        Some((count, first[0].ends(), most))
    }
}
