//! The rows that figures are told in: each category, LoCoMo's headline of the four that can be answered, and all.

use std::collections::BTreeSet;

use crate::cli::input::sample::Category;

/// Some of the categories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// One alone.
    One(Category),
    /// Those that can be answered.
    Answerable,
    /// Every question, whatever its category.
    All,
}

impl Group {
    /// The groups of these categories: each, then the headline where LoCoMo's are among them, then all.
    pub(super) fn of<'a>(categories: impl Iterator<Item = &'a Category>) -> Vec<Self> {
        let categories: BTreeSet<_> = categories.collect();
        let numbered = categories.iter().any(|category| matches!(category, Category::Numbered(_)));
        let headline = numbered.then_some(Self::Answerable);
        categories.into_iter().cloned().map(Self::One).chain(headline).chain([Self::All]).collect()
    }

    /// Whether questions of the category belong to it.
    pub(super) fn has(&self, category: &Category) -> bool {
        match self {
            Self::One(one) => one == category,
            Self::Answerable => category.is_answerable(),
            Self::All => true,
        }
    }

    /// As a table names it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::One(category) => category.name(),
            Self::Answerable => "1-4".to_owned(),
            Self::All => "all".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headline_leaves_out_the_adversarial_and_stands_only_where_there_are_numbers() {
        let locomo = [Category::Numbered(5), Category::Numbered(2), Category::Numbered(5)];
        let groups = Group::of(locomo.iter());
        assert_eq!(groups.iter().map(Group::name).collect::<Vec<_>>(), ["2 temporal", "5 adversarial", "1-4", "all"]);
        let members = |at: usize| locomo.iter().filter(|category| groups[at].has(category)).count();
        assert_eq!([members(0), members(1), members(2), members(3)], [1, 2, 1, 3]);
        let named = Category::Named("abstention".to_owned());
        assert_eq!(Group::of([named].iter()).iter().map(Group::name).collect::<Vec<_>>(), ["abstention", "all"]);
    }
}
